// A measured training step: its keys become the options of `plan`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "calibration/cases/kinds.hpp"
#include "model/transformer/read_config.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace fs = std::filesystem;

namespace {

// Keys that are no options: what was measured, how, and what is read otherwise. Autocast is what fp32
// parameters with bf16 compute mean outside FSDP.
constexpr std::array<std::string_view, 19> kLabels{
    "id",   "kind",     "wire",    "framework", "measured", "date",   "driver",   "nccl",
    "gpu",  "source",   "notes",   "note",      "model",    "origin", "nccl_env", "model_overrides",
    "gpus", "autocast", "expected"};

bool is_builtin(const std::string& name) {
    const auto all = builtin_models();
    return std::any_of(all.begin(), all.end(), [&](const BuiltinModel& model) { return model.name == name; });
}

std::string resolve_model(const JsonLine& line, const CaseFolders& folders) {
    const std::string named = line.needed_text("model");
    const fs::path path(named);
    const fs::path file_of_cases = line.place().substr(0, line.place().rfind(':'));
    std::vector<fs::path> places{file_of_cases.parent_path() / path};
    if (!folders.models.empty()) places.push_back(fs::path(folders.models) / path);
    if (path.is_absolute()) places = {path};
    std::error_code error;
    for (const fs::path& place : places)
        if (fs::exists(place, error)) return place.string();
    for (const std::string& name : {named, path.stem().string()})
        if (is_builtin(name)) return name;
    line.refuse(
        "model",
        fmt::format("\"{}\" is no file beside the cases, none under --models and no built-in model", named),
        "give --models DIR with its config, or a built-in name");
}

std::string value_text(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

void add(std::vector<std::string>& words, const std::string& option, const std::string& value) {
    words.push_back(option);
    words.push_back(value);
}

std::string option_of(const std::string& key) {
    std::string option = "--" + key;
    std::replace(option.begin(), option.end(), '_', '-');
    return option;
}

void add_pairs(std::vector<std::string>& words, const JsonLine& line, const char* key,
               const std::string& option) {
    if (!line.has(key)) return;
    const JsonLine pairs = line.object(key);
    for (const auto& [name, value] : pairs.row().items())
        add(words, option, fmt::format("{}={}", name, value_text(value)));
}

// A flag is written true or false.
void add_option(std::vector<std::string>& words, const JsonLine& line, const std::string& key,
                const nlohmann::json& value) {
    if (value.is_object() || value.is_array())
        line.refuse(key.c_str(), "is neither text, number nor flag", "write the option's value");
    const std::string option = option_of(key);
    if (!value.is_boolean()) return add(words, option, value_text(value));
    if (key == "no_sync") return add(words, option, value.get<bool>() ? "on" : "off");
    if (value.get<bool>()) words.push_back(option);
    const bool on_by_default =
        key == "gradient_as_bucket_view" || key == "limit_all_gathers" || key == "use_orig_params";
    if (!value.get<bool>() && on_by_default) words.push_back("--no-" + option.substr(2));
}

// Rows of the harness that names its attention so were run on the dimensions of a config, without its sliding
// window: their peaks hold no mask at any length.
bool left_out_windows(const JsonLine& line) {
    return line.text("framework").find("attention sdpa (cuDNN)") != std::string::npos &&
           line.text("model").starts_with("mistral");
}

std::vector<std::string> options_of(const JsonLine& line, const CaseFolders& folders) {
    std::vector<std::string> words;
    add(words, "--model", resolve_model(line, folders));
    add_pairs(words, line, "model_overrides", "--set");
    add_pairs(words, line, "nccl_env", "--nccl-env");
    if (left_out_windows(line)) add(words, "--set", "sliding_window=null");
    if (line.has("gpus"))
        add(words, "--gpus",
            line.text("strategy") == "single" ? "1" : fmt::format("{}", line.integer("gpus")));
    for (const auto& [key, value] : line.row().items())
        if (!value.is_null() && std::find(kLabels.begin(), kLabels.end(), key) == kLabels.end())
            add_option(words, line, key, value);
    return words;
}

std::vector<Reading> readings_of(const JsonLine& measured) {
    using enum MeasuredQuantity;
    std::vector<Reading> readings;
    if (measured.has("oom")) {
        if (!measured.row().at("oom").is_boolean())
            measured.refuse("oom", "is no flag", "write true or false");
        const bool oom = measured.row().at("oom").get<bool>();
        readings.push_back({MeasuredQuantity::oom, oom ? 1.0 : 0.0});
        if (oom) return readings;
    }
    for (const MeasuredQuantity quantity :
         {peak_allocated_bytes, peak_reserved_bytes, device_used_bytes, step_seconds}) {
        const std::string key(name_of(quantity));
        if (measured.has(key.c_str())) readings.push_back({quantity, measured.positive(key.c_str())});
    }
    if (measured.has("step_ms")) readings.push_back({step_seconds, measured.positive("step_ms") * 1e-3});
    if (readings.empty())
        throw InputError(measured.place(), "holds no quantity",
                         "write step_ms, peak_allocated_bytes, oom, ...");
    return readings;
}

}  // namespace

MeasuredCase training_step_case(const JsonLine& line, const CaseFolders& folders) {
    MeasuredCase result;
    result.id = line.needed_text("id");
    result.place = line.place();
    result.labels = {"measured", line.needed_text("machine"), line.text("wire"),
                     line.needed_text("strategy")};
    result.subject = TrainingStepCase{options_of(line, folders)};
    result.readings = readings_of(line.object("measured"));
    return result;
}

}  // namespace wirewise
