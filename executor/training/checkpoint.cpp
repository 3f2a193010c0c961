#include "executor/training/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "executor/training/convert.hpp"
#include "model/units/error.hpp"

namespace wirewise {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSingle = "model.safetensors", kIndex = "model.safetensors.index.json";

[[noreturn]] void refuse(const std::string& place, const std::string& problem, const std::string& remedy) {
    throw InputError(place, problem, remedy);
}

// What some checkpoints hold beside the parameters: a tied head's copy, and buffers that are computed.
bool may_be_ignored(const Transformer& model, std::string_view name) {
    return (model.tied_embeddings && name == "lm_head.weight") || name.ends_with("rotary_emb.inv_freq");
}

}  // namespace

Checkpoint::Checkpoint(const fs::path& path) : path_(path.string()) {
    std::error_code error;
    if (!fs::is_directory(path, error))
        add_file(path);
    else if (fs::exists(path / kSingle, error))
        add_file(path / kSingle);
    else if (fs::exists(path / kIndex, error))
        add_indexed(path, path / kIndex);
    else
        refuse(path_, fmt::format("holds neither {} nor {}", kSingle, kIndex),
               "give the folder of a Hugging Face model");
}

void Checkpoint::add_file(const fs::path& path) {
    files_.emplace_back(path);
    const auto& tensors = files_.back().tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (!places_.insert({tensors[i].name, {files_.size() - 1, i}}).second)
            refuse(fmt::format("{}: {}", path.string(), tensors[i].name), "stands in two files",
                   "keep one of them");
}

void Checkpoint::add_indexed(const fs::path& folder, const fs::path& index) {
    const MappedFile file(index);
    const auto* const text = reinterpret_cast<const char*>(file.bytes().data());
    const json document = json::parse(text, text + file.bytes().size(), nullptr, false);
    if (!document.is_object() || !document.contains("weight_map") || !document["weight_map"].is_object())
        refuse(index.string(), "has no weight_map", "give the index that transformers wrote");
    std::set<std::string> names;
    for (const auto& [tensor, name] : document["weight_map"].items()) {
        if (!name.is_string() || fs::path(name.get<std::string>()).has_parent_path())
            refuse(index.string() + ":/weight_map/" + tensor, "names no file of this folder",
                   "write a file name");
        names.insert(name.get<std::string>());
    }
    for (const std::string& name : names) add_file(folder / name);
    for (const auto& [tensor, name] : document["weight_map"].items())
        if (!places_.contains(tensor))
            refuse(fmt::format("{}: {}", index.string(), tensor), "is in none of the files",
                   "complete the checkpoint");
}

void Checkpoint::check_tensor(const UnitTensor& tensor) const {
    const std::string place = fmt::format("{}: {}", path_, tensor.name);
    const auto found = places_.find(tensor.name);
    if (found == places_.end()) refuse(place, "is missing", "give weights that fit the config");
    const StoredTensor& there = stored(found->second);
    if (there.shape != tensor.parameter->shape)
        refuse(place,
               fmt::format("has shape [{}], the config says [{}]", fmt::join(there.shape, ", "),
                           fmt::join(tensor.parameter->shape, ", ")),
               "give weights that fit the config");
    const std::optional<DType> type = dtype_from_safetensors(there.dtype);
    if (!type || !is_floating(*type))
        refuse(place, fmt::format("is stored as {}", there.dtype), "give fp32, bf16 or fp16 weights");
}

void Checkpoint::check(const Transformer& model, std::span<const UnitTensor> tensors) const {
    std::set<std::string_view> known;
    for (const UnitTensor& tensor : tensors) {
        check_tensor(tensor);
        known.insert(tensor.name);
    }
    for (const auto& [name, place] : places_)
        if (!known.contains(name) && !may_be_ignored(model, name))
            refuse(fmt::format("{}: {}", path_, name), "is no tensor of the model that the config describes",
                   "give weights that fit the config");
}

void Checkpoint::read(const UnitTensor& tensor, std::int64_t first, std::span<float> values) const {
    const auto found = places_.find(tensor.name);
    ensure(found != places_.end(), "a checkpoint is checked before it is read");
    const StoredTensor& there = stored(found->second);
    const DType type = *dtype_from_safetensors(there.dtype);
    const auto bytes = files_[found->second.file].bytes_of(there);
    const auto offset = static_cast<std::size_t>(first * size_of(type));
    ensure(offset + values.size() * static_cast<std::size_t>(size_of(type)) <= bytes.size(),
           "elements of the tensor");
    widen(bytes.data() + offset, type, values);
}

}  // namespace wirewise
