#include "tools/render/model_report.hpp"

#include <fmt/format.h>

#include "model/units/text.hpp"

namespace wirewise {

namespace {

enum class Part { embeddings, attention, mlp, routed_experts, norms, biases, head, other };
constexpr const char* kPartNames[] = {"embeddings", "attention", "mlp",  "routed_experts",
                                      "norms",      "biases",    "head", "other"};
constexpr std::size_t kPartCount = std::size(kPartNames);

Part part_of(ParameterUse use) {
    using enum ParameterUse;
    switch (use) {
        case embedding:
        case position_embedding:
        case embedding_projection:
            return Part::embeddings;
        case head:
        case head_projection:
            return Part::head;
        case query:
        case key:
        case value:
        case query_key_value:
        case attention_output:
        case query_down:
        case query_up:
        case kv_down:
        case kv_up:
        case sinks:
            return Part::attention;
        case gate:
        case up:
        case gate_up:
        case down:
        case router:
        case shared_gate:
        case shared_up:
        case shared_gate_up:
        case shared_down:
        case shared_router:
            return Part::mlp;
        case expert_gate:
        case expert_up:
        case expert_gate_up:
        case expert_down:
            return Part::routed_experts;
        case bias:
            return Part::biases;
        case norm:
        case norm_bias:
        case head_norm:
        case embedding_norm:
            return Part::norms;
        case other:
            return Part::other;
    }
    return Part::other;
}

using Counts = std::array<std::int64_t, kPartCount>;

void add(Counts& counts, const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters)
        counts[static_cast<std::size_t>(part_of(parameter.use))] += parameter.count();
}

Counts counts_of(const Transformer& model) {
    Counts counts{};
    add(counts, model.root_before);
    add(counts, model.root_after);
    for (std::int64_t layer = 0; layer < model.layer_count(); ++layer)
        add(counts, model.layer(layer).parameters);
    return counts;
}

Table part_table(const Transformer& model, const Counts& counts) {
    Table table{"", {"<part", "parameters", "share %"}, {}, -1};
    for (std::size_t part = 0; part < kPartCount; ++part)
        if (counts[part] > 0)
            table.rows.push_back({kPartNames[part], with_commas(counts[part]),
                                  fmt::format("{:.1f}", 100.0 * static_cast<double>(counts[part]) /
                                                            static_cast<double>(model.parameters()))});
    table.rows.push_back({"total", with_commas(model.parameters()), "100.0"});
    if (model.active_parameters() != model.parameters())
        table.rows.push_back({"active for a token", with_commas(model.active_parameters()), ""});
    return table;
}

}  // namespace

Json model_json(const Transformer& model) {
    Json keys = Json::array();
    for (const DefaultedKey& key : model.defaulted_keys)
        keys.push_back({{"key", key.key}, {"value", key.value}, {"from", key.from}});
    return {{"name", model.name},
            {"model_type", model.model_type},
            {"parameters", model.parameters()},
            {"active_parameters", model.active_parameters()},
            {"defaulted_keys", keys},
            {"notes", model.notes}};
}

Report model_report(const Transformer& model) {
    Report report;
    const Counts counts = counts_of(model);
    report.document = {{"schema", "wirewise.model/1"}, {"supported", true}, {"why", ""}};
    report.document.update(model_json(model));
    Json parts = Json::object();
    for (std::size_t part = 0; part < kPartCount; ++part) parts[kPartNames[part]] = counts[part];
    report.document["parts"] = parts;
    report.document["layers"] = model.layer_count();
    report.document["hidden"] = model.hidden;
    report.document["vocabulary"] = model.vocabulary;
    report.document["max_position"] = model.max_position;
    report.document["tied_embeddings"] = model.tied_embeddings;
    report.before.push_back(fmt::format("{} ({}): {} layers, hidden {}, vocabulary {}{}", model.name,
                                        model.model_type, model.layer_count(), model.hidden, model.vocabulary,
                                        model.tied_embeddings ? ", tied embeddings" : ""));
    report.tables.push_back(part_table(model, counts));
    for (const DefaultedKey& key : model.defaulted_keys)
        report.after.push_back(
            fmt::format("absent from the config: {} = {} ({})", key.key, key.value, key.from));
    for (const auto& note : model.notes) report.after.push_back("note: " + note);
    return report;
}

}  // namespace wirewise
