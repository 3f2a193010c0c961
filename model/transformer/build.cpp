// From blueprint to tensors: fills in the widths and expands the family's tables, once per distinct kind of
// layer.
#include <algorithm>
#include <utility>

#include "model/transformer/blueprint.hpp"

namespace wirewise {

namespace {
void fill_attention_widths(Widths& widths, const AttentionShape& attention) {
    widths[Width::heads] = attention.heads;
    widths[Width::kv_heads] = attention.kv_heads;
    widths[Width::head_dim] = attention.head_dim;
    widths[Width::value_head_dim] = attention.value_head_dim;
    widths[Width::query] = attention.query_width();
    widths[Width::key] = attention.key_width();
    widths[Width::value] = attention.value_width();
    widths[Width::output] = attention.output_width();
    widths[Width::query_key_value] =
        attention.query_width() + attention.key_width() + attention.value_width();
}

void fill_mlp_widths(Widths& widths, const MlpShape& dense, const MlpShape& expert) {
    widths[Width::intermediate] = dense.intermediate;
    widths[Width::gate_up] = 2 * dense.intermediate;
    widths[Width::experts] = expert.experts;
    widths[Width::expert] = expert.intermediate;
    widths[Width::expert_gate_up] = 2 * expert.intermediate;
    widths[Width::shared] = expert.shared_intermediate;
    widths[Width::shared_gate_up] = 2 * expert.shared_intermediate;
    widths[Width::one] = 1;
}

Traits layer_traits(const Blueprint& blueprint, const LayerPlan& plan) {
    Traits traits = blueprint.traits | (plan.routed ? trait::routed : trait::dense);
    if (plan.routed && blueprint.expert.shared_intermediate > 0) traits |= trait::shared;
    return traits;
}

Layer layer_of(const Blueprint& blueprint, const LayerPlan& plan) {
    Layer layer{
        .parameters = expand(blueprint.family->layer, blueprint.widths, layer_traits(blueprint, plan)),
        .attention = blueprint.attention,
        .mlp = plan.routed ? blueprint.expert : blueprint.mlp,
        .parallel_block = blueprint.parallel_block,
        .pre_norms = blueprint.pre_norms,
        .post_norms = blueprint.post_norms};
    layer.attention.window = plan.window;
    layer.attention.chunked = plan.chunked;
    layer.attention.head_norm = (blueprint.traits & trait::head_norm) != 0;
    if (!plan.rotary) layer.attention.rotary_dim = 0;
    return layer;
}

void build_layers(const Blueprint& blueprint, Transformer& model) {
    std::vector<LayerPlan> kinds;
    for (const auto& plan : blueprint.layers) {
        const auto found = std::ranges::find(kinds, plan);
        model.layers.push_back(static_cast<std::uint16_t>(found - kinds.begin()));
        if (found != kinds.end()) continue;
        kinds.push_back(plan);
        model.kinds.push_back(layer_of(blueprint, plan));
    }
}
}  // namespace

Transformer build(Blueprint blueprint) {
    Transformer model = std::move(blueprint.model);
    auto& widths = blueprint.widths;
    fill_attention_widths(widths, blueprint.attention);
    fill_mlp_widths(widths, blueprint.mlp, blueprint.expert);
    widths[Width::positions] = model.max_position + blueprint.family->extra_positions;
    model.hidden = widths[Width::hidden];
    model.vocabulary = widths[Width::vocabulary];
    const Traits traits = blueprint.traits | (model.tied_embeddings ? trait::always : trait::untied);
    model.root_before = expand(blueprint.family->before, widths, traits);
    build_layers(blueprint, model);
    model.root_after = expand(blueprint.family->after, widths, traits);
    return model;
}

}  // namespace wirewise
