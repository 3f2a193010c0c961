#include "model/strategy/native/block.hpp"

namespace wirewise {

Norm BlockEmitter::norm_at(Unit unit, std::string_view name, std::size_t index) const {
    const UnitLayout& layout = context_.layout.of(unit);
    return {name, unit, layout.norm(index), layout.norm_bias(index)};
}

// Norms stand in registration order; pre and post norms interleave where a family has both (Gemma 2 and 3),
// and a family with post norms alone (OLMo 2) has no others.
Norm BlockEmitter::attention_norm(Unit unit) const { return norm_at(unit, "attention norm", 0); }
Norm BlockEmitter::mlp_norm(Unit unit) const {
    return norm_at(unit, "mlp norm", layer_of(unit).post_norms ? 2 : 1);
}
Norm BlockEmitter::attention_post_norm(Unit unit) const {
    return norm_at(unit, "attention post norm", layer_of(unit).pre_norms ? 1 : 0);
}
Norm BlockEmitter::mlp_post_norm(Unit unit) const {
    return norm_at(unit, "mlp post norm", layer_of(unit).pre_norms ? 3 : 1);
}

bool BlockEmitter::one_norm_for_both(Unit unit) const {
    return layer_of(unit).parallel_block && context_.layout.of(unit).norm_count() < 2;
}

BufferId BlockEmitter::activation(std::string_view name) {
    const DType type = context_.compute_type();
    return context_.build().transient(name, bytes_of(context_.tokens() * context_.model().hidden, type), type,
                                      Role::activation, context_.streams.compute);
}

void BlockEmitter::add(BufferId a, BufferId b, BufferId sum) {
    ProgramBuilder& build = context_.build();
    build.compute(context_.streams.compute, "residual",
                  elementwise_kernel(PointwiseKind::add, context_.tokens() * context_.model().hidden, 3,
                                     context_.compute_type()),
                  {build.read(a), build.read(b), build.write(sum)});
}

BufferId BlockEmitter::attention_forward(Unit unit, Saved& saved) {
    ProgramBuilder& build = context_.build();
    const Layer& layer = layer_of(unit);
    BufferId input = saved.input;
    if (layer.pre_norms) {
        saved.attention_norm = norms_.forward(attention_norm(unit), saved.input);
        input = saved.attention_norm.output;
    }
    const BufferId sum = activation("residual after attention");
    if (!layer.post_norms) {
        saved.attention = attention_.forward(unit, input, build.write(sum), build.read(saved.input));
        return sum;
    }
    const BufferId result = activation("attention result");
    saved.attention = attention_.forward(unit, input, build.write(result), std::nullopt);
    saved.attention_post_norm = norms_.forward(attention_post_norm(unit), result);
    add(saved.input, saved.attention_post_norm.output, sum);
    return sum;
}

void BlockEmitter::feed_forward(Unit unit, Saved& saved, BufferId input, Operand y,
                                std::optional<Operand> addend) {
    if (layer_of(unit).mlp.routed())
        saved.experts = experts_.forward(unit, input, y, addend);
    else
        saved.mlp = mlp_.forward(mlp_.dense(unit), input, y, addend);
}

// `x` is what the MLP's norm reads; the residual is saved.middle. Without `down_too`, stops before the last
// GEMM of a dense MLP, whose result a recomputation does not need.
BufferId BlockEmitter::mlp_forward(Unit unit, Saved& saved, BufferId x, bool down_too) {
    ProgramBuilder& build = context_.build();
    const Layer& layer = layer_of(unit);
    BufferId input = x;
    if (one_norm_for_both(unit)) {
        input = saved.attention_norm.output;
    } else if (layer.pre_norms) {
        saved.mlp_norm = norms_.forward(mlp_norm(unit), x);
        input = saved.mlp_norm.output;
    }
    if (!down_too && !layer.post_norms && !layer.mlp.routed()) {
        saved.mlp = mlp_.forward_to_product(mlp_.dense(unit), input);
        return saved.middle;
    }
    const BufferId sum = activation("residual after mlp");
    if (!layer.post_norms) {
        feed_forward(unit, saved, input, build.write(sum), build.read(saved.middle));
        return sum;
    }
    const BufferId result = activation("mlp result");
    feed_forward(unit, saved, input, build.write(result), std::nullopt);
    saved.mlp_post_norm = norms_.forward(mlp_post_norm(unit), result);
    if (down_too) add(saved.middle, saved.mlp_post_norm.output, sum);
    return sum;
}

BufferId BlockEmitter::forward(std::int32_t layer, BufferId x) {
    const Unit unit{layer};
    context_.build().at_layer(layer);
    Saved& saved = saved_of(unit);
    saved = {.input = x};
    saved.middle = attention_forward(unit, saved);
    return mlp_forward(unit, saved, layer_of(unit).parallel_block ? x : saved.middle, true);
}

void BlockEmitter::recompute_all(Unit unit, Saved& saved) {
    saved = {.input = saved.input};
    saved.middle = attention_forward(unit, saved);
    mlp_forward(unit, saved, layer_of(unit).parallel_block ? saved.input : saved.middle, false);
}

void BlockEmitter::recompute_mlp(Unit unit, Saved& saved) {
    const Recompute mode = context_.plan().recompute;
    const Layer& layer = layer_of(unit);
    if (mode == Recompute::none || mode == Recompute::full || layer.mlp.routed()) return;
    BufferId input = saved.mlp.input;
    if (layer.pre_norms && !one_norm_for_both(unit)) {
        norms_.recompute(mlp_norm(unit), saved.mlp_norm);
        input = saved.mlp_norm.output;
    } else if (one_norm_for_both(unit)) {
        norms_.recompute(attention_norm(unit), saved.attention_norm);
        input = saved.attention_norm.output;
    }
    if (mode == Recompute::selective)
        saved.mlp = mlp_.forward_to_product(mlp_.dense(unit), input);
    else
        mlp_.recompute_product(mlp_.dense(unit), saved.mlp);
    saved.mlp.input = input;
}

void BlockEmitter::recompute_attention(Unit unit, Saved& saved) {
    const Recompute mode = context_.plan().recompute;
    if (mode == Recompute::none || mode == Recompute::full) return;
    if (layer_of(unit).pre_norms && !one_norm_for_both(unit)) {
        norms_.recompute(attention_norm(unit), saved.attention_norm);
    }
    if (layer_of(unit).pre_norms) saved.attention.projection.input = saved.attention_norm.output;
    attention_.recompute_heads(unit, saved.attention);
}

void BlockEmitter::feed_forward_backward(Unit unit, Saved& saved, Operand dy, Operand dx) {
    if (layer_of(unit).mlp.routed())
        experts_.backward(unit, saved.experts, dy, dx);
    else
        mlp_.backward(mlp_.dense(unit), saved.mlp, dy, dx);
}

void BlockEmitter::mlp_backward(Unit unit, Saved& saved, BufferId dx) {
    ProgramBuilder& build = context_.build();
    const Layer& layer = layer_of(unit);
    BufferId dresult = dx;
    if (layer.post_norms) {
        dresult = activation("mlp result gradient");
        norms_.backward(mlp_post_norm(unit), saved.mlp_post_norm, build.read(dx), build.write(dresult));
    }
    recompute_mlp(unit, saved);
    if (!layer.pre_norms) return feed_forward_backward(unit, saved, build.read(dresult), build.update(dx));
    const BufferId dnormed = activation("normed gradient");
    feed_forward_backward(unit, saved, build.read(dresult), build.write(dnormed));
    norms_.backward(mlp_norm(unit), saved.mlp_norm, build.read(dnormed), build.update(dx));
}

void BlockEmitter::attention_backward(Unit unit, Saved& saved, BufferId dx) {
    ProgramBuilder& build = context_.build();
    const Layer& layer = layer_of(unit);
    BufferId dresult = dx;
    if (layer.post_norms) {
        dresult = activation("attention result gradient");
        norms_.backward(attention_post_norm(unit), saved.attention_post_norm, build.read(dx),
                        build.write(dresult));
    }
    recompute_attention(unit, saved);
    if (!layer.pre_norms)
        return attention_.backward(unit, saved.attention, build.read(dresult), build.update(dx));
    const BufferId dnormed = activation("normed gradient");
    attention_.backward(unit, saved.attention, build.read(dresult), build.write(dnormed));
    norms_.backward(attention_norm(unit), saved.attention_norm, build.read(dnormed), build.update(dx));
}

// Both sub-layers read the gradient of the output before either norm adds to it.
void BlockEmitter::parallel_backward(Unit unit, Saved& saved, BufferId dx) {
    ProgramBuilder& build = context_.build();
    const bool shared = one_norm_for_both(unit);
    const BufferId dnormed = activation("normed gradient");
    recompute_mlp(unit, saved);
    feed_forward_backward(unit, saved, build.read(dx), build.write(dnormed));
    recompute_attention(unit, saved);
    const BufferId dattention = shared ? dnormed : activation("attention normed gradient");
    attention_.backward(unit, saved.attention, build.read(dx),
                        shared ? build.update(dattention) : build.write(dattention));
    if (!shared) norms_.backward(mlp_norm(unit), saved.mlp_norm, build.read(dnormed), build.update(dx));
    norms_.backward(attention_norm(unit), saved.attention_norm, build.read(dattention), build.update(dx));
}

void BlockEmitter::backward(std::int32_t layer, BufferId dx) {
    const Unit unit{layer};
    context_.build().at_layer(layer);
    Saved& saved = saved_of(unit);
    if (context_.plan().recompute == Recompute::full) recompute_all(unit, saved);
    if (layer_of(unit).parallel_block) return parallel_backward(unit, saved, dx);
    mlp_backward(unit, saved, dx);
    attention_backward(unit, saved, dx);
}

}  // namespace wirewise
