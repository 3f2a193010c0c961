#include "executor/training/save.hpp"

#include <nlohmann/json.hpp>

#include "executor/training/convert.hpp"
#include "executor/training/safetensors.hpp"
#include "executor/training/write_aside.hpp"

namespace wirewise {

namespace {

// What a Hugging Face folder holds beside config and weights, for text to be tokenized and generated.
constexpr const char* kCompanions[] = {"tokenizer.json",
                                       "tokenizer_config.json",
                                       "tokenizer.model",
                                       "special_tokens_map.json",
                                       "added_tokens.json",
                                       "vocab.json",
                                       "merges.txt",
                                       "chat_template.jinja",
                                       "generation_config.json"};

std::vector<TensorToWrite> tensors_to_write(const Executor& executor, TensorKind kind, DType dtype) {
    std::vector<TensorToWrite> all;
    for (const UnitTensor& tensor : executor.tensors())
        all.push_back(
            {tensor.name, dtype, tensor.parameter->shape, [&executor, &tensor, kind, dtype](auto bytes) {
                 std::vector<float> values(static_cast<std::size_t>(tensor.slice.count));
                 executor.read(kind, tensor, values);
                 narrow(values, dtype, bytes.data());
             }});
    return all;
}

// As transformers writes it: the dtype that the config names is that of the weights.
std::string with_dtype(std::string_view config, DType dtype) {
    auto json = nlohmann::ordered_json::parse(config, nullptr, false);
    if (!json.is_object()) return std::string(config);
    const char* const name = dtype == DType::bf16 ? "bfloat16" : dtype == DType::fp16 ? "float16" : "float32";
    json[json.contains("dtype") ? "dtype" : "torch_dtype"] = name;
    return json.dump(2) + "\n";
}

// What a rank that does not write owes to the one that does.
void take_part(std::span<const TensorToWrite> tensors) {
    std::vector<std::byte> bytes;
    for (const TensorToWrite& tensor : tensors) {
        bytes.resize(static_cast<std::size_t>(bytes_of(tensor)));
        tensor.fill(bytes);
    }
}

}  // namespace

void save_checkpoint(const Executor& executor, const std::filesystem::path& folder, DType dtype,
                     std::string_view config) {
    const auto tensors = tensors_to_write(executor, TensorKind::parameter, dtype);
    if (!executor.leads()) return take_part(tensors);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    FileAside weights(folder / "model.safetensors"), description(folder / "config.json");
    description.write(with_dtype(config, dtype));
    write_safetensors(weights, tensors);
    weights.commit();
    description.commit();
}

void copy_companions(const std::filesystem::path& from, const std::filesystem::path& to) {
    for (const char* const name : kCompanions) {
        std::error_code error;
        if (std::filesystem::exists(from / name, error))
            std::filesystem::copy_file(from / name, to / name,
                                       std::filesystem::copy_options::overwrite_existing, error);
    }
}

void save_gradients(const Executor& executor, const std::filesystem::path& file) {
    const auto tensors = tensors_to_write(executor, TensorKind::gradient, DType::fp32);
    if (!executor.leads()) return take_part(tensors);
    FileAside aside(file);
    write_safetensors(aside, tensors);
    aside.commit();
}

}  // namespace wirewise
