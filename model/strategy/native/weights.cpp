#include "model/strategy/native/weights.hpp"

#include <algorithm>

#include "model/strategy/native/buffer_names.hpp"
#include "model/strategy/native/kernels.hpp"

namespace wirewise {

Weights::Weights(NativeContext& context) : context_(context), residence_(context.units().size()) {
    declare_stored();
    if (uses_slots()) declare_slots();
}

bool Weights::uses_slots() const {
    return context_.sharding.parameters || context_.plan().precision.parameter != context_.compute_type();
}

void Weights::declare_stored() {
    const int ranks = context_.sharding.parameters ? context_.shards() : 1;
    for (const Unit unit : context_.units()) {
        context_.build().at_layer(unit.layer);
        const std::int64_t elements = context_.layout.of(unit).padded() / ranks;
        const DType type = context_.plan().precision.parameter;
        stored_.push_back(context_.build().persistent(native_buffer::parameters, bytes_of(elements, type),
                                                      type, Role::parameter, context_.streams.compute));
    }
}

void Weights::declare_slots() {
    class_slots_.resize(context_.layout.class_count());
    next_slot_.resize(context_.layout.class_count());
    context_.build().at_layer(-1);
    for (std::size_t kind = 0; kind < class_slots_.size(); ++kind) {
        const std::size_t units = kind == 0 ? 1 : context_.layout.layers_in_class(kind);
        const bool keep = context_.sharding.parameters && !context_.sharding.reshard_after_forward;
        const DType type = context_.compute_type();
        const Bytes bytes = bytes_of(context_.layout.of_class(kind).padded(), type);
        for (std::size_t i = 0; i < (keep ? units : std::min<std::size_t>(units, 2)); ++i) {
            class_slots_[kind].push_back(slots_.size());
            slots_.push_back({context_.build().persistent("weights slot", bytes, type, Role::communication,
                                                          context_.streams.compute)});
        }
    }
}

// Slots are filled only after the last update, which the gather stream must have seen.
void Weights::begin_step() {
    if (uses_slots()) context_.build().join(context_.streams.gather, context_.streams.compute);
}

std::optional<Unit> Weights::following(Unit unit) const {
    const Unit next{unit.root()
                        ? (forward_ ? 0 : static_cast<std::int32_t>(context_.model().layer_count()) - 1)
                        : unit.layer + (forward_ ? 1 : -1)};
    if (next.root() || next.layer >= context_.model().layer_count()) return std::nullopt;
    return next;
}

bool Weights::resident(Unit unit) const {
    const Residence& residence = residence_[index(unit)];
    return residence.filled && slots_[residence.slot].holder == static_cast<std::int32_t>(index(unit));
}

void Weights::need(Unit unit) {
    if (!uses_slots()) return;
    if (!resident(unit)) fill(unit, unit);
    const EventId filled = *residence_[index(unit)].filled;
    const std::optional<Unit> next = following(unit);
    if (next && !resident(*next)) fill(*next, unit);
    context_.build().at_layer(unit.layer);
    context_.build().wait(context_.streams.compute, filled);
}

void Weights::done(Unit unit) {
    if (!uses_slots()) return;
    slots_[residence_[index(unit)].slot].released = context_.build().record(context_.streams.compute);
}

// The slot to fill next: in turn, but never the one whose weights are needed now.
std::size_t Weights::choose_slot(Unit unit, Unit needed) {
    const std::size_t kind = context_.layout.class_of(unit);
    const std::vector<std::size_t>& choices = class_slots_[kind];
    std::size_t chosen = choices[next_slot_[kind]++ % choices.size()];
    if (slots_[chosen].holder == static_cast<std::int32_t>(index(needed)))
        chosen = choices[next_slot_[kind]++ % choices.size()];
    return chosen;
}

void Weights::fill(Unit unit, Unit needed) {
    const std::size_t chosen = choose_slot(unit, needed);
    Slot& slot = slots_[chosen];
    context_.build().at_layer(unit.layer);
    if (slot.released) context_.build().wait(context_.streams.gather, *slot.released);
    copy_into(unit, slot.buffer);
    slot.holder = static_cast<std::int32_t>(index(unit));
    residence_[index(unit)] = {chosen, context_.build().record(context_.streams.gather)};
}

void Weights::copy_into(Unit unit, BufferId slot) {
    ProgramBuilder& build = context_.build();
    const DType stored_type = context_.plan().precision.parameter, type = context_.compute_type();
    const std::int64_t padded = context_.layout.of(unit).padded();
    BufferId source = stored(unit);
    if (stored_type != type) {
        const std::int64_t elements = context_.sharding.parameters ? padded / context_.shards() : padded;
        BufferId target = slot;
        if (context_.sharding.parameters)
            target = build.transient("cast shard", bytes_of(elements, type), type, Role::communication,
                                     context_.streams.gather);
        build.compute(context_.streams.gather, "cast weights", cast_kernel(elements, stored_type, type),
                      {build.read(source), build.write(target)});
        source = target;
    }
    if (context_.sharding.parameters)
        build.collective(context_.streams.gather, "gather weights",
                         {.kind = CollectiveKind::all_gather,
                          .axis = Axis::shard,
                          .dtype = type,
                          .bytes = bytes_of(padded, type)},
                         {build.read(source), build.write(slot)});
}

Operand Weights::operand(Unit unit, Slice slice) const {
    const BufferId buffer = uses_slots() ? slots_[residence_[index(unit)].slot].buffer : stored(unit);
    return part(buffer, slice, context_.compute_type(), Access::read);
}

void Weights::publish(Unit unit) {
    ProgramBuilder& build = context_.build();
    build.join(context_.streams.gather, context_.streams.compute);
    build.collective(context_.streams.gather, "gather updated parameters",
                     {.kind = CollectiveKind::all_gather,
                      .axis = Axis::shard,
                      .dtype = context_.plan().precision.parameter,
                      .bytes = build.at(stored(unit)).bytes},
                     {build.update(stored(unit))});
}

}  // namespace wirewise
