#include "model/strategy/native/gradients.hpp"

#include <algorithm>

#include "model/strategy/native/buffer_names.hpp"
#include "model/strategy/native/kernels.hpp"

namespace wirewise {

Gradients::Gradients(NativeContext& context)
    : context_(context),
      whole_(keeps_whole()),
      open_slot_(context.units().size()),
      ready_(context.units().size()) {
    declare();
}

bool Gradients::keeps_whole() const {
    const ParallelPlan& plan = context_.plan();
    return !context_.sharding.gradients || (plan.no_sync && plan.gradient_accumulation > 1);
}

void Gradients::declare() {
    ProgramBuilder& build = context_.build();
    const Precision& precision = context_.plan().precision;
    for (const Unit unit : context_.units()) {
        build.at_layer(unit.layer);
        const std::int64_t padded = context_.layout.of(unit).padded();
        if (whole_)
            full_.push_back(build.persistent(native_buffer::gradients, bytes_of(padded, precision.gradient),
                                             precision.gradient, Role::gradient, context_.streams.compute));
        if (context_.sharding.gradients)
            share_.push_back(build.persistent(native_buffer::gradient_shard,
                                              bytes_of(padded / context_.shards(), precision.gradient),
                                              precision.gradient, Role::gradient, context_.streams.compute));
    }
    if (whole_) return;
    class_slots_.resize(context_.layout.class_count());
    next_slot_.resize(context_.layout.class_count());
    build.at_layer(-1);
    for (std::size_t kind = 0; kind < class_slots_.size(); ++kind) {
        const std::size_t units = kind == 0 ? 1 : context_.layout.layers_in_class(kind);
        for (std::size_t i = 0; i < std::min<std::size_t>(units, 2); ++i) {
            class_slots_[kind].push_back(slots_.size());
            slots_.push_back({build.persistent(
                "gradient slot", bytes_of(context_.layout.of_class(kind).padded(), precision.reduce),
                precision.reduce, Role::communication, context_.streams.compute)});
        }
    }
}

bool Gradients::synchronizes() const {
    return !context_.plan().no_sync || context_.emission.last_micro_batch();
}

bool Gradients::accumulates() const { return whole_ && context_.emission.micro_batch > 0; }

void Gradients::open(Unit unit) {
    if (whole_) {
        if (ready_[index(unit)]) context_.build().wait(context_.streams.compute, *ready_[index(unit)]);
        return;
    }
    const std::size_t kind = context_.layout.class_of(unit);
    const std::size_t chosen = class_slots_[kind][next_slot_[kind]++ % class_slots_[kind].size()];
    open_slot_[index(unit)] = chosen;
    if (slots_[chosen].released) context_.build().wait(context_.streams.compute, *slots_[chosen].released);
}

Operand Gradients::operand(Unit unit, Slice slice) const {
    const BufferId buffer = whole_ ? full_[index(unit)] : slots_[open_slot_[index(unit)]].buffer;
    return part(buffer, slice, type(), accumulates() ? Access::update : Access::write);
}

void Gradients::close(Unit unit) {
    // A running sum may be averaged over and over (the mean of equal parts is that part), but scattered only
    // once.
    const bool once = whole_ && context_.plan().strategy != Strategy::ddp;
    const bool in_place = whole_ && !context_.sharding.gradients;
    if (in_place && context_.plan().mesh.world() == 1) return;
    if (once ? context_.emission.last_micro_batch() : synchronizes()) reduce(unit);
}

void Gradients::reduce(Unit unit) {
    ProgramBuilder& build = context_.build();
    build.at_layer(unit.layer);
    build.join(context_.streams.reduce, context_.streams.compute);
    const BufferId source = whole_ ? full_[index(unit)] : slots_[open_slot_[index(unit)]].buffer;
    if (context_.sharding.gradients || context_.plan().strategy == Strategy::zero1)
        scatter(unit, source);
    else
        all_reduce(Axis::replicate, context_.streams.reduce, build.update(source), type(),
                   context_.layout.of(unit).padded());
    StreamId last = context_.streams.reduce;
    if (!whole_) slots_[open_slot_[index(unit)]].released = build.record(last);
    if (context_.plan().mesh.replicate > 1 && context_.sharding.gradients &&
        context_.emission.last_micro_batch()) {
        build.join(context_.streams.replicate, context_.streams.reduce);
        last = context_.streams.replicate;
        all_reduce(Axis::replicate, last, build.update(share_[index(unit)]),
                   context_.plan().precision.gradient, reduced_elements(unit));
    }
    ready_[index(unit)] = build.record(last);
}

// Leaves the rank's share of the sum in its gradient shard (ZeRO-1: in its place within the whole gradient),
// adding to what earlier micro-batches left there.
void Gradients::scatter(Unit unit, BufferId source) {
    ProgramBuilder& build = context_.build();
    const DType from = type(), to = context_.plan().precision.gradient;
    const Collective call{.kind = CollectiveKind::reduce_scatter,
                          .axis = Axis::shard,
                          .dtype = from,
                          .bytes = build.at(source).bytes,
                          .average = true};
    if (!context_.sharding.gradients) {
        build.collective(context_.streams.reduce, "reduce-scatter gradients", call, {build.update(source)});
        return;
    }
    const BufferId share = share_[index(unit)];
    const bool adds = !whole_ && context_.emission.micro_batch > 0;
    if (from == to && !adds) {
        build.collective(context_.streams.reduce, "reduce-scatter gradients", call,
                         {build.read(source), build.write(share)});
        return;
    }
    const BufferId received = build.transient("reduced share", build.at(source).bytes / context_.shards(),
                                              from, Role::communication, context_.streams.reduce);
    build.collective(context_.streams.reduce, "reduce-scatter gradients", call,
                     {build.read(source), build.write(received)});
    const Kernel land = adds ? elementwise_kernel(PointwiseKind::accumulate, reduced_elements(unit), 3, to)
                             : cast_kernel(reduced_elements(unit), from, to);
    build.compute(context_.streams.reduce, adds ? "accumulate share" : "cast share", land,
                  {build.read(received), adds ? build.update(share) : build.write(share)});
}

// In place; through a buffer of the reduce dtype when that differs.
void Gradients::all_reduce(Axis axis, StreamId stream, Operand gradient, DType type, std::int64_t elements) {
    ProgramBuilder& build = context_.build();
    const DType wire = context_.plan().precision.reduce;
    const Collective call{.kind = CollectiveKind::all_reduce,
                          .axis = axis,
                          .dtype = wire,
                          .bytes = bytes_of(elements, wire),
                          .average = true};
    if (wire == type) {
        build.collective(stream, "all-reduce gradients", call, {gradient});
        return;
    }
    const BufferId sent =
        build.transient("gradients to reduce", bytes_of(elements, wire), wire, Role::communication, stream);
    Operand read = gradient, write = gradient;
    read.access = Access::read;
    write.access = Access::write;
    build.compute(stream, "cast gradients", cast_kernel(elements, type, wire), {read, build.write(sent)});
    build.collective(stream, "all-reduce gradients", call, {build.update(sent)});
    build.compute(stream, "cast gradients back", cast_kernel(elements, wire, type),
                  {build.read(sent), write});
}

std::int64_t Gradients::reduced_elements(Unit unit) const {
    return context_.layout.of(unit).padded() / (context_.sharding.optimizer ? context_.shards() : 1);
}

Operand Gradients::reduced(Unit unit) const {
    if (context_.sharding.gradients) return context_.build().read(share_[index(unit)]);
    Operand whole = context_.build().read(full_[index(unit)]);
    whole.own_share = context_.sharding.optimizer;
    return whole;
}

}  // namespace wirewise
