// A published training run: its row and what its group's conventions make of it.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <optional>

#include "calibration/cases/conventions.hpp"
#include "calibration/cases/kinds.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {

namespace {

std::string group_of(const std::string& id) {
    const auto dash = id.rfind('-');
    return dash == std::string::npos ? id : id.substr(0, dash);
}

// "Llama 2 7B" as its repository writes it: llama-2-7b.
std::string repository_name(std::string name) {
    for (char& c : name) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
}

// The row with what its conventions may ask for besides.
nlohmann::json asked_of(const JsonLine& line, const std::string& id) {
    nlohmann::json row = line.row();
    if (!row.contains("group")) row["group"] = group_of(id);
    if (line.has("model")) row["model_name"] = repository_name(line.text("model"));
    if (line.has("num_gpus") && line.has("num_nodes") && line.integer("num_nodes") > 0)
        row["gpus_a_node"] = line.integer("num_gpus") / line.integer("num_nodes");
    return row;
}

struct PublishedRow {
    const JsonLine& line;
    RowMeaning meaning;

    std::optional<std::string> fact(const std::string& key) const {
        const auto found = meaning.facts.find(key);
        if (found == meaning.facts.end() || found->second.empty()) return std::nullopt;
        return found->second.back();
    }
    std::optional<double> number(const std::string& key) const {
        const auto text = fact(key);
        return text ? std::optional(std::stod(*text)) : std::nullopt;
    }
    // As the setting compared with has it, else as the row says, else as its conventions do; 0: none does.
    double gpus() const {
        if (const auto other = number("gpus")) return *other;
        if (line.has("num_gpus")) return static_cast<double>(line.integer("num_gpus"));
        return number("num_gpus").value_or(0);
    }
};

int nodes_of(const PublishedRow& row) {
    const auto per_node = row.number("gpus_per_node");
    const double gpus = row.gpus();
    if (const auto other = row.number("nodes")) return static_cast<int>(*other);
    if (row.line.has("num_nodes")) return static_cast<int>(row.line.integer("num_nodes"));
    return per_node ? std::max(1, static_cast<int>(std::ceil(gpus / *per_node))) : 1;
}

// What a plan needs and the row does not say.
std::string missing(const PublishedRow& row) {
    constexpr std::array<std::pair<const char*, const char*>, 6> needed{{
        {"--machine", "the hardware is not stated or not in the catalogue"},
        {"--model", "the model's shape is not stated or not modelled"},
        {"--runtime", "no runtime models this framework"},
        {"--strategy", "the strategy is not stated or not modelled"},
        {"--sequence-length", "no sequence length"},
        {"--micro-batch", "no micro-batch size"},
    }};
    if (row.gpus() < 1) return "no number of GPUs";
    for (const auto& [key, reason] : needed)
        if (!row.fact(key)) return reason;
    if (static_cast<std::int64_t>(row.gpus()) % nodes_of(row) != 0)
        return "the GPUs do not divide over the nodes";
    return {};
}

double tokens_per_micro_batch(const PublishedRow& row) {
    return row.number("--sequence-length").value_or(0) * row.number("--micro-batch").value_or(1);
}

std::vector<std::string> plan_options(const PublishedRow& row) {
    std::vector<std::string> words;
    for (const auto& [key, values] : row.meaning.facts) {
        if (!key.starts_with("--")) continue;
        if (key == "--fabric" && nodes_of(row) == 1) continue;
        if (values.empty()) words.push_back(key);
        for (const std::string& value : values) {
            words.push_back(key);
            words.push_back(value);
        }
    }
    const auto add = [&](const char* option, std::int64_t value) {
        words.emplace_back(option);
        words.push_back(fmt::format("{}", value));
    };
    if (const auto chunks = row.number("loss_chunks"))
        add("--loss-chunk", static_cast<std::int64_t>(std::ceil(tokens_per_micro_batch(row) / *chunks)));
    add("--gpus", static_cast<std::int64_t>(row.gpus()) / nodes_of(row));
    add("--nodes", nodes_of(row));
    return words;
}

// Of the setting that the run was compared with: "versus" names what is different there, "--strategy=fsdp".
std::vector<std::string> other_options(const PublishedRow& row) {
    const auto versus = row.meaning.facts.find("versus");
    if (versus == row.meaning.facts.end()) return {};
    PublishedRow other = row;
    for (const std::string& word : versus->second) {
        const auto equals = word.find('=');
        other.meaning.facts[word.substr(0, equals)] = {word.substr(equals + 1)};
    }
    return plan_options(other);
}

// Sequences of a step on one GPU.
double sequences_per_gpu(const PublishedRow& row) {
    if (const auto global = row.number("--global-batch")) return *global / row.gpus();
    return row.number("--micro-batch").value_or(1) * row.number("--gradient-accumulation").value_or(1);
}

// The paper's formula (SC'21, equation 3): 24 B s l h^2 (1 + s/6h + V/16lh) forward, three times that with
// backward, four with recomputation.
double megatron_flops(const PublishedRow& row, double passes) {
    const double s = *row.number("--sequence-length"), l = *row.number("layers"), h = *row.number("hidden"),
                 v = *row.number("vocabulary");
    return passes * 24 * sequences_per_gpu(row) * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
}

std::optional<double> step_seconds(const PublishedRow& row) {
    if (row.line.has("step_time_s")) return row.line.positive("step_time_s");
    if (row.line.has("tokens_per_s_per_gpu"))
        return sequences_per_gpu(row) * *row.number("--sequence-length") /
               row.line.positive("tokens_per_s_per_gpu");
    const auto passes = row.number("tflops_count_passes");
    if (row.line.has("tflops_per_gpu") && passes)
        return megatron_flops(row, *passes) / (row.line.positive("tflops_per_gpu") * 1e12);
    return std::nullopt;
}

std::optional<MeasuredQuantity> memory_quantity(const PublishedRow& row) {
    const auto named = row.fact("memory_is");
    for (const auto quantity : {MeasuredQuantity::peak_allocated_bytes, MeasuredQuantity::peak_reserved_bytes,
                                MeasuredQuantity::device_used_bytes})
        if (named && *named == name_of(quantity)) return quantity;
    return std::nullopt;
}

void add_memory(const PublishedRow& row, std::vector<Reading>& readings) {
    constexpr double kGiB = 1073741824.0;
    const auto quantity = memory_quantity(row);
    if (!quantity) return;
    const double gb = row.fact("gb_means").value_or("GB") == "GiB" ? kGiB : 1e9;
    if (row.line.has("memory_gib")) readings.push_back({*quantity, row.line.positive("memory_gib") * kGiB});
    if (row.line.has("memory_gb")) readings.push_back({*quantity, row.line.positive("memory_gb") * gb});
    if (row.line.has("memory_reserved_gib"))
        readings.push_back(
            {MeasuredQuantity::peak_reserved_bytes, row.line.positive("memory_reserved_gib") * kGiB});
}

void add_feasible(const PublishedRow& row, std::vector<Reading>& readings) {
    const auto found = row.line.row().find("feasible");
    if (found != row.line.row().end() && found->is_boolean())
        readings.push_back({MeasuredQuantity::oom, found->get<bool>() ? 0.0 : 1.0});
}

// The host's memory: what was needed, or the limit at which it ended.
void add_host(const PublishedRow& row, std::vector<Reading>& readings) {
    const auto meaning = row.fact("host_memory_is");
    if (!meaning || !row.line.has("host_ram_gb")) return;
    if (*meaning == "needed")
        readings.push_back({MeasuredQuantity::host_bytes, row.line.positive("host_ram_gb") * 1e9});
    else
        readings.push_back({MeasuredQuantity::host_oom, 1.0});
}

// "74.4/55.3", both filled from the row.
void add_ratio(const PublishedRow& row, std::vector<Reading>& readings) {
    const auto text = row.fact("times_as_long");
    if (!text) return;
    const auto slash = text->find('/');
    ensure(slash != std::string::npos, "a convention's ratio is two numbers");
    readings.push_back({MeasuredQuantity::step_ratio, std::stod(*text) / std::stod(text->substr(slash + 1))});
}

std::vector<Reading> readings_of(const PublishedRow& row) {
    std::vector<Reading> readings;
    if (!row.meaning.facts.contains("time_is_not_comparable"))
        if (const auto seconds = step_seconds(row))
            readings.push_back({MeasuredQuantity::step_seconds, *seconds});
    add_ratio(row, readings);
    add_host(row, readings);
    if (!row.meaning.facts.contains("memory_is_not_comparable")) {
        add_memory(row, readings);
        if (!row.meaning.facts.contains("limit_is_not_comparable")) add_feasible(row, readings);
    }
    return readings;
}

}  // namespace

MeasuredCase described_run(const JsonLine& line) {
    MeasuredCase result;
    result.id = line.needed_text("id");
    result.place = line.place();
    const nlohmann::json known = asked_of(line, result.id);
    const std::string group = known.at("group");
    PublishedRow row{line, meaning_of(known)};
    result.labels = {group, row.fact("--machine").value_or(line.text("hardware")), "",
                     row.fact("--strategy").value_or(line.text("strategy"))};
    result.set_aside = row.meaning.set_aside.empty() ? missing(row) : row.meaning.set_aside;
    if (!result.set_aside.empty()) return result;
    if (const auto apart = row.meaning.facts.find("apart"); apart != row.meaning.facts.end())
        result.assumed = apart->second;
    result.subject = TrainingStepCase{plan_options(row), other_options(row)};
    result.readings = readings_of(row);
    return result;
}

MeasuredCase published_run(const JsonLine& line) {
    MeasuredCase result = described_run(line);
    if (result.set_aside.empty() && result.readings.empty())
        result.set_aside = "states no time, memory or outcome that is predicted";
    return result;
}

}  // namespace wirewise
