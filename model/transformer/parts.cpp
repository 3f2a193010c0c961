#include "model/transformer/parts.hpp"

#include <algorithm>
#include <array>

namespace wirewise {

namespace {
enum PartId { embedding, positions, attention, mlp, router, routed, shared, norms, head, other, part_count };

constexpr std::array<std::string_view, part_count> kNames{
    "embedding",      "positions",      "attention", "mlp",  "router",
    "routed_experts", "shared_experts", "norms",     "head", "other"};

PartId part_of(const Parameter& parameter) {
    switch (parameter.owner) {
        using enum ParameterUse;
        case ParameterUse::embedding:
        case embedding_projection:
            return PartId::embedding;
        case position_embedding:
            return positions;
        case query:
        case key:
        case value:
        case query_key_value:
        case attention_output:
        case query_down:
        case query_up:
        case kv_down:
        case kv_up:
        case head_norm:
        case sinks:
            return attention;
        case gate:
        case up:
        case gate_up:
        case down:
            return mlp;
        case ParameterUse::router:
        case shared_router:
            return PartId::router;
        case expert_gate:
        case expert_up:
        case expert_gate_up:
        case expert_down:
            return routed;
        case shared_gate:
        case shared_up:
        case shared_gate_up:
        case shared_down:
            return shared;
        case norm:
        case norm_bias:
        case embedding_norm:
            return norms;
        case ParameterUse::head:
        case head_projection:
            return PartId::head;
        case bias:
        case ParameterUse::other:
            return PartId::other;
    }
    return PartId::other;
}

void add(std::array<Part, part_count>& parts, const Parameter& parameter, const MlpShape& shape,
         std::int64_t layers) {
    Part& part = parts[part_of(parameter)];
    const std::int64_t count = parameter.count() * layers;
    part.parameters += count;
    part.active += is_routed_expert(parameter) ? count / shape.experts * shape.top_k : count;
}
}  // namespace

std::vector<Part> parameter_parts(const Transformer& model) {
    std::array<Part, part_count> parts;
    for (std::size_t id = 0; id < parts.size(); ++id) parts[id].name = kNames[id];
    for (const auto* root : {&model.root_before, &model.root_after})
        for (const auto& parameter : *root) add(parts, parameter, {}, 1);
    for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
        const auto layers = std::ranges::count(model.layers, kind);
        for (const auto& parameter : model.kinds[kind].parameters)
            add(parts, parameter, model.kinds[kind].mlp, layers);
    }
    std::vector<Part> present;
    std::ranges::copy_if(parts, std::back_inserter(present),
                         [](const Part& part) { return part.parameters > 0; });
    return present;
}

bool is_routed_expert(const Parameter& parameter) { return part_of(parameter) == routed; }

bool is_matmul(const Parameter& parameter) {
    switch (parameter.use) {
        using enum ParameterUse;
        case embedding:
        case position_embedding:
        case embedding_norm:
        case norm:
        case norm_bias:
        case head_norm:
        case sinks:
        case bias:
        case other:
            return false;
        default:
            return true;
    }
}

}  // namespace wirewise
