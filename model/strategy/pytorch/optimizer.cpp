#include "model/strategy/pytorch/optimizer.hpp"

#include <algorithm>

#include "model/strategy/moments.hpp"
#include "model/strategy/pytorch/multi_tensor.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

namespace {

Operand part_of(const PytorchOptimizer::Item& item, DType type, const TensorPart& part, Access access) {
    return {item.parameter, access, false, bytes_of(item.offset + part.offset, type),
            bytes_of(part.count, type)};
}

Operand part_of(BufferId buffer, DType type, const TensorPart& part, Access access) {
    return {buffer, access, false, bytes_of(part.offset, type), bytes_of(part.count, type)};
}

std::int64_t total(const std::vector<TensorPart>& launch) {
    std::int64_t sum = 0;
    for (const TensorPart& part : launch) sum += part.count;
    return sum;
}

}  // namespace

PytorchOptimizer::PytorchOptimizer(PytorchContext& context, std::vector<Item> items)
    : context_(context),
      stream_(context.plan().offload.optimizer ? context.build().stream("host", StreamKind::host)
                                               : context.compute),
      items_(std::move(items)),
      parameter_type_(context.plan().precision.parameter),
      state_type_(moment_type(context.plan().optimizer, context.plan().precision.optimizer_state)) {
    const auto state = [&](std::string_view name, Bytes bytes, DType type) {
        return declare(name, bytes, type, Role::optimizer);
    };
    if (context.plan().precision.master_weights) keep_masters();
    for (const Item& item : items_) {
        counts_.push_back(item.count);
        if (!adaptive()) continue;
        const Bytes bytes = moment_bytes(item.count, context.plan().optimizer, state_type_);
        states_.push_back({state("step", Bytes(4), DType::fp32), state("exp_avg", bytes, state_type_),
                           state("exp_avg_sq", bytes, state_type_)});
    }
}

BufferId PytorchOptimizer::declare(std::string_view name, Bytes bytes, DType type, Role role) const {
    return on_host() ? context_.build().on_host(Lifetime::persistent, name, bytes, type, role, stream_)
                     : context_.build().persistent(name, bytes, type, role, stream_);
}

void PytorchOptimizer::keep_masters() {
    for (Item& item : items_) {
        stored_.push_back(item);
        item = {
            declare("fp32 parameter", bytes_of(item.count, DType::fp32), DType::fp32, Role::master_parameter),
            item.count};
    }
    parameter_type_ = DType::fp32;
}

std::vector<Operand> PytorchOptimizer::in_fp32(const std::vector<Operand>& gradients) {
    ProgramBuilder& build = context_.build();
    std::vector<Operand> casts;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const Bytes bytes = bytes_of(counts_[i], DType::fp32);
        const BufferId cast =
            on_host() ? build.on_host(Lifetime::transient, "fp32 gradient", bytes, DType::fp32,
                                      Role::gradient, stream_)
                      : build.transient("fp32 gradient", bytes, DType::fp32, Role::gradient, stream_);
        Operand from = gradients[i];
        from.access = Access::read;
        build.compute(stream_, "cast gradient", vector_kernel(1, counts_[i], bytes + from.bytes, DType::fp32),
                      {from, build.write(cast)});
        casts.push_back(build.read(cast));
    }
    return casts;
}

void PytorchOptimizer::to_stored() {
    ProgramBuilder& build = context_.build();
    for (std::size_t i = 0; i < stored_.size(); ++i) {
        const Operand stored = stored_part(i, Access::write);
        const Bytes traffic = stored.bytes + build.at(items_[i].parameter).bytes;
        build.compute(stream_, "copy to parameter", vector_kernel(1, counts_[i], traffic, DType::fp32),
                      {build.read(items_[i].parameter), stored});
    }
}

Operand PytorchOptimizer::stored_part(std::size_t i, Access access) const {
    const DType type = context_.plan().precision.parameter;
    return part_of(stored_[i], type, {i, 0, stored_[i].count}, access);
}

bool PytorchOptimizer::adaptive() const { return moment_count(context_.plan().optimizer) > 0; }

void PytorchOptimizer::create_states() {
    const auto fill = [&](BufferId buffer) {
        const Bytes bytes = context_.build().at(buffer).bytes;
        context_.build().compute(stream_, "zeros", vector_kernel(1, bytes.count(), bytes, DType::int8),
                                 {context_.build().write(buffer)});
    };
    for (std::size_t i = 0; i < stored_.size(); ++i) {
        const BufferId master = items_[i].parameter;
        const Operand stored = stored_part(i, Access::read);
        const Bytes traffic = stored.bytes + context_.build().at(master).bytes;
        context_.build().compute(stream_, "fp32 parameter",
                                 vector_kernel(1, counts_[i], traffic, DType::fp32),
                                 {stored, context_.build().write(master)});
    }
    for (const State& state : states_) {
        fill(state.step);
        fill(state.first);
        fill(state.second);
    }
}

void PytorchOptimizer::step(const std::vector<Operand>& given) {
    ensure(given.size() == items_.size(), "each parameter has a gradient");
    context_.tape.storages.settle();
    context_.build().host_work(context_.compute, "optimizer",
                               {HostWorkKind::optimizer_loop, static_cast<std::int32_t>(items_.size())});
    if (on_host()) wait_for_gradients();
    const std::vector<Operand> gradients = stored_.empty() ? given : in_fp32(given);
    if (context_.plan().clip_gradients) clip(gradients);
    if (context_.phase() == Phase::first_step) create_states();
    if (context_.plan().optimizer == OptimizerKind::adamw_foreach)
        multi_tensor(gradients);
    else
        fused(gradients);
    to_stored();
}

// The CPU goes on when the gradients have arrived.
void PytorchOptimizer::wait_for_gradients() {
    context_.build().host_work(context_.compute, "wait for gradients", {HostWorkKind::synchronize, 1});
    context_.build().join(stream_, context_.compute);
}

// clip_grad_norm_: norms of all gradients, their norm, and a scaling in place.
void PytorchOptimizer::clip(const std::vector<Operand>& gradients) {
    ProgramBuilder& build = context_.build();
    const Bytes bytes = Bytes(4) * static_cast<std::int64_t>(items_.size());
    const BufferId norms =
        on_host() ? build.on_host(Lifetime::transient, "gradient norms", bytes, DType::fp32, Role::workspace,
                                  stream_)
                  : build.transient("gradient norms", bytes, DType::fp32, Role::workspace, stream_);
    const auto each = [&](std::string_view name, Access access, std::int64_t passes, Operand scalar) {
        for_each_launch(counts_, 1, [&](const std::vector<TensorPart>& launch) {
            std::vector<Operand> operands{scalar};
            Bytes traffic;
            for (const TensorPart& part : launch) {
                const Operand& whole = gradients[part.tensor];
                const Bytes unit(whole.bytes.count() / counts_[part.tensor]);
                operands.push_back(
                    {whole.buffer, access, false, whole.offset + unit * part.offset, unit * part.count});
                traffic += unit * part.count * passes;
            }
            build.compute(stream_, name, vector_kernel(1, total(launch), traffic, parameter_type_), operands);
        });
    };
    each("gradient norms", Access::read, 1, build.write(norms));
    each("clip gradients", Access::update, 2, build.read(norms));
}

void PytorchOptimizer::fused(const std::vector<Operand>& gradients) {
    for_each_launch(counts_, adaptive() ? 4 : 2, [&](const std::vector<TensorPart>& launch) {
        OptimizerUpdate update;
        update.kind = context_.plan().optimizer;
        update.count = total(launch);
        update.parameter = update.gradient = parameter_type_;
        update.state = state_type_;
        update.traffic = bytes_of(3 * update.count, parameter_type_);
        update.traffic +=
            moment_bytes(update.count, update.kind, state_type_) * 2 * moment_count(update.kind);
        std::vector<Operand> operands;
        for (const TensorPart& part : launch) {
            const Operand& whole = gradients[part.tensor];
            const Bytes unit(whole.bytes.count() / counts_[part.tensor]);
            operands.push_back(
                {whole.buffer, Access::read, false, whole.offset + unit * part.offset, unit * part.count});
            operands.push_back(part_of(items_[part.tensor], parameter_type_, part, Access::update));
            if (!adaptive()) continue;
            const State& state = states_[part.tensor];
            operands.push_back(part_of(state.first, state_type_, part, Access::update));
            operands.push_back(part_of(state.second, state_type_, part, Access::update));
            if (part.offset == 0) operands.push_back(context_.build().read(state.step));
        }
        context_.build().compute(stream_, adaptive() ? "AdamW" : "SGD", update, operands);
    });
}

// _multi_tensor_adamw: weight decay, lerp, two passes over exp_avg_sq, then its square root as a temporary of
// the size of the state, divided and shifted in place, and addcdiv into the parameters.
void PytorchOptimizer::multi_tensor(const std::vector<Operand>& gradients) {
    ProgramBuilder& build = context_.build();
    std::vector<BufferId> roots;
    for (const std::int64_t count : counts_)
        roots.push_back(build.transient("exp_avg_sq square root", bytes_of(count, state_type_), state_type_,
                                        Role::workspace, stream_));
    multi_tensor_passes(gradients, roots);
    multi_tensor_update(gradients, roots);
}

void PytorchOptimizer::multi_tensor_passes(const std::vector<Operand>& gradients,
                                           const std::vector<BufferId>& roots) {
    ProgramBuilder& build = context_.build();
    const std::int64_t p = size_of(parameter_type_), s = size_of(state_type_);
    struct Pass {
        std::string_view name;
        std::int64_t traffic;
        bool reads_gradient, touches_state, touches_root;
    };
    const std::array<Pass, 7> passes{{{"weight decay", 2 * p, false, false, false},
                                      {"exp_avg lerp", 2 * s + p, true, true, false},
                                      {"exp_avg_sq scale", 2 * s, false, true, false},
                                      {"exp_avg_sq addcmul", 2 * s + p, true, true, false},
                                      {"exp_avg_sq square root", 2 * s, false, true, true},
                                      {"root scale", 2 * s, false, false, true},
                                      {"root add epsilon", 2 * s, false, false, true}}};
    for (const Pass& pass : passes) {
        for_each_launch(counts_, 3, [&](const std::vector<TensorPart>& launch) {
            std::vector<Operand> operands;
            for (const TensorPart& part : launch) {
                const std::size_t i = part.tensor;
                if (pass.reads_gradient) {
                    Operand whole = gradients[i];
                    whole.access = Access::read;
                    operands.push_back(whole);
                }
                if (pass.touches_state)
                    operands.push_back(part_of(states_[i].second, state_type_, part, Access::read));
                if (pass.touches_root)
                    operands.push_back(part_of(roots[i], state_type_, part, Access::write));
                if (operands.empty())
                    operands.push_back(part_of(items_[i], parameter_type_, part, Access::read));
            }
            build.compute(stream_, pass.name,
                          vector_kernel(1, total(launch), Bytes(pass.traffic) * total(launch), state_type_),
                          operands);
        });
    }
}

void PytorchOptimizer::multi_tensor_update(const std::vector<Operand>& gradients,
                                           const std::vector<BufferId>& roots) {
    ProgramBuilder& build = context_.build();
    const std::int64_t p = size_of(parameter_type_), s = size_of(state_type_);
    for_each_launch(counts_, 4, [&](const std::vector<TensorPart>& launch) {
        OptimizerUpdate update;
        update.kind = OptimizerKind::adamw_foreach;
        update.count = total(launch);
        update.parameter = update.gradient = parameter_type_;
        update.state = state_type_;
        update.traffic = Bytes(2 * p + 2 * s) * update.count;
        std::vector<Operand> operands;
        for (const TensorPart& part : launch) {
            const std::size_t i = part.tensor;
            operands.push_back(gradients[i]);
            operands.back().access = Access::read;
            operands.push_back(part_of(items_[i], parameter_type_, part, Access::update));
            operands.push_back(part_of(states_[i].first, state_type_, part, Access::update));
            operands.push_back(part_of(states_[i].second, state_type_, part, Access::update));
            operands.push_back(part_of(roots[i], state_type_, part, Access::read));
        }
        build.compute(stream_, "AdamW addcdiv", update, operands);
    });
}

}  // namespace wirewise
