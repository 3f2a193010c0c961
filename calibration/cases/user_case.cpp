// Cases as users report them (../shared/user_cases/cases.json): nested under model, settings and outcome.
// Told in the words of a published run, so that one set of conventions reads both.
#include <array>
#include <utility>

#include "calibration/cases/kinds.hpp"

namespace wirewise {

namespace {

using nlohmann::json;

using Renamed = std::pair<const char*, const char*>;
constexpr std::array<Renamed, 16> kSettings{{{"seq", "seq_len"},
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
constexpr std::array<Renamed, 3> kOutcome{{{"memory_gib", "memory_gib"},
                                           {"step_time_s", "step_time_s"},
                                           {"tokens_per_s_per_gpu", "tokens_per_s_per_gpu"}}};

template <std::size_t count>
void take(json& to, const json& row, const char* object, const std::array<Renamed, count>& names) {
    const auto found = row.find(object);
    if (found == row.end() || !found->is_object()) return;
    for (const auto& [theirs, ours] : names)
        if (const auto value = found->find(theirs); value != found->end() && !value->is_null())
            to[ours] = *value;
}

}  // namespace

MeasuredCase user_case(const JsonLine& line) {
    const JsonLine model = line.object("model");
    json row = {{"id", line.needed_text("id")},
                {"group", "user cases"},
                {"model", model.has("config") ? model.text("config") : model.text("name")},
                {"hardware", line.text("hardware")},
                {"strategy", line.text("strategy")},
                {"notes", line.text("title")},
                {"theme", line.text("theme")},
                {"source", line.text("source")}};
    if (line.has("gpus")) row["num_gpus"] = line.integer("gpus");
    take(row, model.row(), "config_values", kShape);
    take(row, line.row(), "settings", kSettings);
    take(row, line.row(), "outcome", kOutcome);
    const JsonLine outcome = line.object("outcome");
    if (outcome.has("oom")) row["feasible"] = !outcome.row().at("oom").get<bool>();
    if (const auto recompute = row.find("recompute"); recompute != row.end() && recompute->is_boolean())
        *recompute = recompute->get<bool>() ? "full" : "none";
    if (row.value("feasible", true) == false)
        row.erase("memory_gib");  // what an attempt that failed had reached
    return published_run(JsonLine(row, line.place()));
}

}  // namespace wirewise
