// Finds the config behind a name: a file, a folder or a built-in; applies overrides.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "model/transformer/builtin.hpp"
#include "model/transformer/overrides.hpp"
#include "model/transformer/parse_json.hpp"
#include "model/transformer/read_config.hpp"

namespace wirewise {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {
constexpr std::uintmax_t kLargestConfig = 8 << 20;  // real ones are a few kilobytes

std::string read_file(const fs::path& path) {
    if (!fs::is_regular_file(path))
        throw InputError(path.string(), "is not a regular file", "give a config.json");
    if (fs::file_size(path) > kLargestConfig)
        throw InputError(path.string(), "is larger than 8 MiB: no config.json",
                         "give the model's config.json");
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || (fs::file_size(path) > 0 && !(text << file.rdbuf())))
        throw InputError(path.string(), "cannot be read", "check its permissions");
    return text.str();
}

fs::path config_file(const fs::path& path) {
    if (!fs::is_directory(path)) return path;
    const fs::path inside = path / "config.json";
    if (!fs::exists(inside))
        throw InputError(path.string(), "is a folder without a config.json",
                         "give the folder of a Hugging Face model");
    return inside;
}

// The name for output: the folder of a config.json, else the file without its ending.
std::string short_name(const fs::path& file) {
    if (file.filename() != "config.json") return file.stem().string();
    const auto folder = fs::absolute(file).parent_path().filename().string();
    return folder.empty() ? "config" : folder;
}

[[noreturn]] void unknown(std::string_view name) {
    const bool path = name.find('/') != std::string_view::npos || name.ends_with(".json");
    const std::string shown(name.substr(0, 200));
    const auto near = near_builtins(name);
    throw InputError(
        "--model " + shown,
        path ? "no such file or folder, nor a built-in model" : "no such built-in model, file or folder",
        near.empty() ? std::string("give a config.json or a built-in name (wirewise model --list)")
                     : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

struct FoundConfig {
    json config;
    std::string place, name;
    std::vector<std::string> notes;
};

FoundConfig find_config(std::string_view name_or_path, const std::vector<std::string>& overrides) {
    if (name_or_path.empty())
        throw InputError("--model", "is empty", "give a config.json or a built-in name");
    std::error_code error;
    const fs::path path(name_or_path);
    FoundConfig found;
    if (fs::exists(path, error)) {
        const fs::path file = config_file(path);
        found.place = file.string();
        found.name = short_name(file);
        found.config = parse_json(read_file(file), found.place);
    } else if (const auto builtin = find_builtin(name_or_path)) {
        found.place = found.name = builtin->name;
        found.config = builtin->config;
    } else {
        unknown(name_or_path);
    }
    found.notes = apply_overrides(found.config, overrides, found.place);
    return found;
}
}  // namespace

Transformer load_model(std::string_view name_or_path, const std::vector<std::string>& overrides) {
    const FoundConfig found = find_config(name_or_path, overrides);
    Transformer model = read_config(found.config, found.place);
    model.name = found.name;
    model.notes.insert(model.notes.end(), found.notes.begin(), found.notes.end());
    return model;
}

std::string config_text(std::string_view name_or_path, const std::vector<std::string>& overrides) {
    return find_config(name_or_path, overrides).config.dump(2) + "\n";
}

std::vector<BuiltinModel> builtin_models() {
    std::vector<BuiltinModel> all;
    for (const auto& entry : builtin_table()) all.push_back({entry.name, entry.repository, entry.source});
    return all;
}

}  // namespace wirewise
