// Cases as users report them (../shared/user_cases/cases.json): nested under model, settings and outcome.
// Told in the words of a published run, so that one set of conventions reads both.
#include <array>
#include <utility>

#include "calibration/cases/generic_shape.hpp"
#include "calibration/cases/kinds.hpp"

namespace wirewise {

namespace {

using nlohmann::json;

using Renamed = std::pair<const char*, const char*>;
constexpr std::array<Renamed, 18> kSettings{{{"seq", "seq_len"},
                                             {"micro_batch", "micro_batch_size"},
                                             {"batch", "micro_batch_size"},
                                             {"global_batch", "global_batch_size"},
                                             {"grad_accum", "gradient_accumulation"},
                                             {"micro_batches", "gradient_accumulation"},
                                             {"precision", "precision"},
                                             {"recompute", "recompute"},
                                             {"optimizer", "optimizer"},
                                             {"technique", "technique"},
                                             {"compile", "compile"},
                                             {"chunked_ce", "chunked_ce"},
                                             {"optimizer_in_bwd", "optimizer_in_bwd"},
                                             {"note", "recipe"},
                                             {"no_sync", "no_sync"},
                                             {"load_dtype", "load_dtype"},
                                             {"tp", "tp"},
                                             {"pp", "pp"}}};
constexpr std::array<Renamed, 8> kShape{{{"hidden_size", "hidden_size"},
                                         {"num_layers", "num_layers"},
                                         {"num_hidden_layers", "num_layers"},
                                         {"num_attention_heads", "num_attention_heads"},
                                         {"num_key_value_heads", "num_kv_heads"},
                                         {"ffn_hidden_size", "ffn_hidden_size"},
                                         {"vocab_size", "vocab_size"},
                                         {"num_local_experts", "num_experts"}}};
constexpr std::array<Renamed, 4> kOutcome{{{"memory_gib", "memory_gib"},
                                           {"step_time_s", "step_time_s"},
                                           {"host_ram_gb", "host_ram_gb"},
                                           {"tokens_per_s_per_gpu", "tokens_per_s_per_gpu"}}};

template <std::size_t count>
void take(json& to, const json& row, const char* object, const std::array<Renamed, count>& names) {
    const auto found = row.find(object);
    if (found == row.end() || !found->is_object()) return;
    for (const auto& [theirs, ours] : names)
        if (const auto value = found->find(theirs); value != found->end() && !value->is_null())
            to[ours] = *value;
}

// Figures that the report holds beside its outcome keep their own names.
void take_figures(json& to, const JsonLine& outcome) {
    if (!outcome.has("other")) return;
    const JsonLine other = outcome.object("other");
    for (const auto& [name, value] : other.row().items())
        if (value.is_number() || value.is_boolean()) to[name] = value;
}

// Where a size is all that is known of the model.
void add_generic_shape(json& to, const JsonLine& model) {
    const double parameters =
        model.has("params") ? model.number("params") : parameters_in(model.text("name"));
    if (model.has("config") || to.contains("num_layers") || !(parameters > 0)) return;
    constexpr std::int64_t kVocabulary = 32000;  // Llama's
    const std::int64_t vocabulary = to.value("vocab_size", kVocabulary);
    const GenericShape shape = llama_of(parameters, vocabulary, to.value("hidden_size", std::int64_t{0}));
    to["like_hidden"] = shape.hidden, to["like_layers"] = shape.layers;
    to["like_heads"] = shape.heads, to["like_ffn"] = shape.ffn, to["like_vocabulary"] = vocabulary;
}

json row_of(const JsonLine& line) {
    const JsonLine model = line.object("model"), outcome = line.object("outcome");
    json row = {{"id", line.needed_text("id")},
                {"group", "user cases"},
                {"model", model.has("config") ? model.text("config") : model.text("name")},
                {"hardware", line.text("hardware")},
                {"topology", line.text("topology")},
                {"strategy", line.text("strategy")},
                {"notes", line.text("title")},
                {"theme", line.text("theme")},
                {"source", line.text("source")},
                {"memory_note", outcome.text("memory_note")}};
    if (line.has("gpus")) row["num_gpus"] = line.integer("gpus");
    take(row, model.row(), "config_values", kShape);
    take(row, line.row(), "settings", kSettings);
    take(row, line.row(), "outcome", kOutcome);
    take_figures(row, outcome);
    add_generic_shape(row, model);
    return row;
}

}  // namespace

MeasuredCase user_case(const JsonLine& line) {
    json row = row_of(line);
    const JsonLine outcome = line.object("outcome");
    if (outcome.has("oom")) row["feasible"] = !outcome.row().at("oom").get<bool>();
    if (const auto recompute = row.find("recompute"); recompute != row.end() && recompute->is_boolean())
        *recompute = recompute->get<bool>() ? "full" : "none";
    if (row.value("feasible", true) == false)
        row.erase("memory_gib");  // what an attempt that failed had reached
    MeasuredCase result = described_run(JsonLine(row, line.place()));
    result.question = line.text("title");
    return result;
}

}  // namespace wirewise
