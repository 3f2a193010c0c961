#include "model/strategy/native/optimizer.hpp"

#include "model/strategy/moments.hpp"
#include "model/strategy/native/buffer_names.hpp"
#include "model/strategy/native/kernels.hpp"

namespace wirewise {

Optimizer::Optimizer(NativeContext& context, Weights& weights, Gradients& gradients)
    : context_(context), weights_(weights), gradients_(gradients) {
    declare();
}

void Optimizer::declare() {
    ProgramBuilder& build = context_.build();
    const StreamId home = context_.streams.compute;
    const Precision& precision = context_.plan().precision;
    const OptimizerKind kind = context_.plan().optimizer;
    for (const Unit unit : context_.units()) {
        build.at_layer(unit.layer);
        const std::int64_t elements = gradients_.reduced_elements(unit);
        const auto moment = [&](std::string_view name) {
            return build.persistent(name, moment_bytes(elements, kind, precision.optimizer_state),
                                    moment_type(kind, precision.optimizer_state), Role::optimizer, home);
        };
        States states;
        if (keeps_moments())
            states.first = moment(native_buffer::first_moment),
            states.second = moment(native_buffer::second_moment);
        if (precision.master_weights)
            states.master = build.persistent(native_buffer::master, bytes_of(elements, DType::fp32),
                                             DType::fp32, Role::master_parameter, home);
        states_.push_back(states);
    }
    build.at_layer(-1);
    const auto scalar = [&](std::string_view name) {
        return build.persistent(name, Bytes(512), DType::fp32, Role::workspace, home);
    };
    loss_ = scalar(native_buffer::loss);
    squared_norm_ = scalar(native_buffer::squared_norm);
    if (context_.plan().clip_gradients) clip_factor_ = scalar("clip factor");
}

bool Optimizer::keeps_moments() const { return moment_count(context_.plan().optimizer) > 0; }

std::vector<Unit> Optimizer::in_order_of_arrival() const {
    std::vector<Unit> order;
    for (auto layer = static_cast<std::int32_t>(context_.model().layer_count()); layer-- > 0;)
        order.push_back({layer});
    order.push_back(Unit{});
    return order;
}

void Optimizer::add_squared_norm(Unit unit) {
    ProgramBuilder& build = context_.build();
    build.at_layer(unit.layer);
    if (gradients_.ready(unit)) build.wait(context_.streams.compute, *gradients_.ready(unit));
    const DType type = context_.plan().precision.gradient;
    build.compute(context_.streams.compute, "squared norm",
                  elementwise_kernel(PointwiseKind::squared_norm, gradients_.reduced_elements(unit), 1, type),
                  {gradients_.reduced(unit), build.update(squared_norm_)});
}

// The loss is averaged over all ranks; the squared norm is summed over the ranks that hold different shares.
void Optimizer::reduce_scalars() {
    ProgramBuilder& build = context_.build();
    build.at_layer(-1);
    build.join(context_.streams.reduce, context_.streams.compute);
    if (context_.plan().mesh.world() > 1)
        build.collective(context_.streams.reduce, "average loss",
                         {.kind = CollectiveKind::all_reduce,
                          .axis = Axis::world,
                          .dtype = DType::fp32,
                          .bytes = Bytes(4),
                          .average = true},
                         {build.update(loss_)});
    if (context_.sharding.optimizer && context_.shards() > 1)
        build.collective(context_.streams.reduce, "sum squared norms",
                         {.kind = CollectiveKind::all_reduce,
                          .axis = Axis::shard,
                          .dtype = DType::fp32,
                          .bytes = Bytes(4)},
                         {build.update(squared_norm_)});
}

Operand Optimizer::parameters_to_update(Unit unit) const {
    Operand whole = context_.build().update(weights_.stored(unit));
    whole.own_share = context_.sharding.optimizer && !context_.sharding.parameters;
    return whole;
}

void Optimizer::update(Unit unit) {
    ProgramBuilder& build = context_.build();
    build.at_layer(unit.layer);
    const Precision& precision = context_.plan().precision;
    const States& states = states_[static_cast<std::size_t>(unit.layer + 1)];
    std::vector<Operand> operands{gradients_.reduced(unit), parameters_to_update(unit)};
    if (keeps_moments())
        operands.insert(operands.end(), {build.update(states.first), build.update(states.second)});
    if (precision.master_weights) operands.push_back(build.update(states.master));
    if (context_.plan().clip_gradients) operands.push_back(build.read(clip_factor_));
    build.compute(
        context_.streams.compute, "update",
        optimizer_kernel(context_.plan().optimizer, gradients_.reduced_elements(unit), precision.parameter,
                         precision.gradient, precision.optimizer_state, precision.master_weights),
        operands);
    if (context_.sharding.optimizer && !context_.sharding.parameters) weights_.publish(unit);
}

void Optimizer::update() {
    ProgramBuilder& build = context_.build();
    const NativeStreams& streams = context_.streams;
    const bool clip = context_.plan().clip_gradients;
    build.compute(streams.compute, "clear squared norm",
                  elementwise_kernel(PointwiseKind::fill_zero, 1, 1, DType::fp32),
                  {build.write(squared_norm_)});
    if (clip) {
        for (const Unit unit : in_order_of_arrival()) add_squared_norm(unit);
        reduce_scalars();
        build.join(streams.compute, streams.reduce);
        build.compute(streams.compute, "clip factor",
                      elementwise_kernel(PointwiseKind::clip_scale, 1, 2, DType::fp32),
                      {build.read(squared_norm_), build.write(clip_factor_)});
    }
    for (const Unit unit : in_order_of_arrival()) {
        if (!clip) add_squared_norm(unit);
        update(unit);
    }
    if (!clip) reduce_scalars();
    for (const StreamId stream : {streams.gather, streams.reduce, streams.replicate})
        build.join(streams.compute, stream);
}

}  // namespace wirewise
