#include "model/strategy/pytorch/decoder.hpp"

#include <utility>

#include "model/strategy/pytorch/loss.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

namespace {

// The default workspace per cuBLAS (hipBLAS) handle, counted as allocated: 32 MiB from Hopper on,
// :4096:2:16:8 before it, 128 MiB on MI300. Source: ATen/cuda/CublasHandlePool.cpp (2.11).
Bytes blas_workspace(double compute_capability) {
    if (compute_capability == 0) return 128_MiB;
    return compute_capability >= 9 ? 32_MiB : 8_MiB + 128_KiB;
}

}  // namespace

EagerDecoder::EagerDecoder(PytorchContext& context)
    : context_(context), tape_(context.tape), modules_(context), compiled_(context, modules_) {
    for (const std::string_view name : {"cuBLAS workspace", "cuBLAS workspace of autograd"})
        cublas_workspaces_.push_back(
            context.build().persistent(name, blas_workspace(context.plan().compute_capability), DType::int8,
                                       Role::workspace, context.compute));
    tape_.gradients = context.phase() != Phase::evaluation;
}

void EagerDecoder::begin_micro_batch() {
    const std::int64_t tokens = context_.plan().tokens_per_micro_batch();
    const auto tokens_tensor = [&](std::string_view name) {
        Tensor result = tape_.storages.empty(name, tokens, 1, DType::int64);
        tape_.compute(name, vector_kernel(tokens, 1, result.bytes(), DType::int64),
                      {{result, Access::write}});
        return result;
    };
    tape_.begin_micro_batch();
    tape_.storages.owe_workspace(cublas_workspaces_.front());
    ids_ = tokens_tensor("input ids");
    labels_ = tokens_tensor("labels");
    start_of_.clear();
    checkpoints_.assign(static_cast<std::size_t>(context_.model().layer_count()), {});
}

void EagerDecoder::embedding_forward() {
    context_.build().at_layer(-1);
    embedded_ = modules_.embed(ids_);
    hidden_ = embedded_;
    modules_.begin_forward();
}

void EagerDecoder::layer_forward(std::int32_t layer) {
    context_.build().at_layer(layer);
    start_of_.push_back(tape_.position());
    if (checkpoints(layer) && tape_.gradients)
        checkpointed_forward(layer);
    else
        hidden_ = run_layer(layer, hidden_);
}

bool EagerDecoder::recomputes_any() const {
    for (std::int32_t layer = 0; layer < context_.model().layer_count(); ++layer)
        if (checkpoints(layer)) return true;
    return false;
}

// Selective recomputation op by op of a compiled layer is the compiler's: see CompiledLayers.
bool EagerDecoder::checkpoints(std::int32_t layer) const {
    const ParallelPlan& plan = context_.plan();
    if (plan.recompute != Recompute::selective) return plan.recompute == Recompute::full;
    return plan.recompute_every > 0 ? (layer + 1) % plan.recompute_every == 0 : !compiled_.handles(layer);
}

Tensor EagerDecoder::run_layer(std::int32_t layer, const Tensor& x) {
    return compiled_.handles(layer) ? compiled_.layer(layer, x) : modules_.layer(layer, x);
}

// Weights that the modules above leave out (attention sinks, biases of experts, ...) are small; their
// gradients count like any other's.
void EagerDecoder::give_other_gradients(Unit unit) {
    for (const WeightId id : context_.weights.of(unit)) {
        if (tape_.took_gradient(id)) continue;
        const Weight& weight = context_.weights.at(id);
        Tensor gradient = tape_.storages.empty("weight gradient", weight.rows, weight.columns,
                                               context_.weight_type(), Role::gradient);
        tape_.compute("weight gradient",
                      reduction_kernel(weight.rows, weight.columns, 2 * gradient.bytes(), gradient.type),
                      {{gradient, Access::write}});
        tape_.owner().take_gradient(id, std::move(gradient));
    }
}

void EagerDecoder::checkpointed_forward(std::int32_t layer) {
    Checkpoint& checkpoint = checkpoints_[static_cast<std::size_t>(layer)];
    checkpoint.input = hidden_;
    tape_.recording = false;
    tape_.save_count = 0;
    if (context_.plan().recomputes_op_by_op()) tape_.kept.start_keeping();
    hidden_ = run_layer(layer, hidden_);
    checkpoint.kept = tape_.kept.take_all();
    tape_.recording = true;
    checkpoint.saves = tape_.save_count;
    tape_.record(hidden_, [](Tape&, Tensor) {});
    checkpoint.output.slot = hidden_.slot;
}

void EagerDecoder::head_and_loss() {
    context_.build().at_layer(-1);
    start_of_.push_back(tape_.position());
    hidden_ = modules_.last_norm(hidden_);
    embedded_ = {};
    const std::int64_t chunk = context_.plan().loss_chunk;
    if (chunk > 0 && chunk < hidden_.rows) {
        logits_ = chunked_logits(chunk);
    } else {
        logits_ = {modules_.head(hidden_)};
        hidden_ = {};
    }
    start_of_loss_ = tape_.position();
    if (!context_.plan().loss.outside) loss();
}

void EagerDecoder::loss() {
    for (const Tensor& logits : logits_) {
        Tensor loss = eager::causal_loss(tape_, logits, labels_.as(logits.rows, 1), context_.plan().loss);
        loss_ = loss_.defined() ? eager::add(tape_, loss_, loss) : std::move(loss);
    }
    if (!context_.plan().loss.keeps_logits) logits_.clear();
    modules_.clear_autocast_cache();
    if (!recomputes_any()) modules_.end_forward();
}

// As torchtune does: the head runs once per chunk, and the loss of each chunk follows when all logits are
// there.
std::vector<Tensor> EagerDecoder::chunked_logits(std::int64_t chunk) {
    const std::vector<Tensor> parts = eager::split_rows(tape_, std::exchange(hidden_, {}), chunk);
    std::vector<Tensor> logits;
    for (const Tensor& part : parts) logits.push_back(modules_.head(part));
    return logits;
}

void EagerDecoder::loss_backward() {
    context_.build().at_layer(-1);
    tape_.storages.settle();
    Tensor one = tape_.storages.empty("loss gradient", 1, 1, DType::fp32);
    tape_.compute("loss gradient", vector_kernel(1, 1, one.bytes(), DType::fp32), {{one, Access::write}});
    tape_.storages.owe_workspace(cublas_workspaces_.back());
    tape_.accumulate(Tape::target(loss_), std::move(one));
    tape_.run_backward_to(start_of_loss_);
}

void EagerDecoder::head_backward() {
    if (!context_.plan().loss.outside) loss_backward();
    tape_.run_backward_to(start_of_.back());
}

void EagerDecoder::layer_backward(std::int32_t layer) {
    context_.build().at_layer(layer);
    if (checkpoints(layer))
        checkpointed_backward(layer);
    else
        tape_.run_backward_to(start_of_[static_cast<std::size_t>(layer)]);
    give_other_gradients({layer});
}

// The first saved tensor asked for runs the layer's forward again, until everything saved is there.
void EagerDecoder::checkpointed_backward(std::int32_t layer) {
    // The random state is kept and set again, and each saved tensor goes through a hook: about two passes
    // over a layer.
    tape_.storages.settle();
    context_.hook("checkpoint", 2);
    Checkpoint checkpoint = std::exchange(checkpoints_[static_cast<std::size_t>(layer)], {});
    Tensor gradient = tape_.take(checkpoint.output.slot);
    tape_.save_count = 0;
    tape_.stop_at_save = checkpoint.saves;
    modules_.clear_autocast_cache();
    if (context_.plan().recomputes_op_by_op()) tape_.kept.start_restoring(std::move(checkpoint.kept));
    Tensor output = run_layer(layer, checkpoint.input);
    modules_.clear_autocast_cache();
    tape_.stop_at_save = -1;
    tape_.storages.skipping = false;
    // What early stop did not ask for again stays until the layer's graph is gone.
    const std::vector<Tensor> left = tape_.kept.take_all();
    tape_.accumulate(Tape::target(output), std::move(gradient));
    output = {};
    tape_.run_backward_to(start_of_[static_cast<std::size_t>(layer)]);
}

void EagerDecoder::embedding_backward() {
    context_.build().at_layer(-1);
    tape_.run_backward_to(0);
    give_other_gradients({});
    modules_.end_forward();
    ids_ = {};
    labels_ = {};
    loss_ = {};
    logits_.clear();
}

}  // namespace wirewise
