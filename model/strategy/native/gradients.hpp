// Where weight gradients are written and how they reach the ranks that update with them.
// Whole gradients (single, DDP, ZeRO-1, or accumulation without synchronisation) have a buffer per unit;
// sharded ones are written into one of two slots and reduce-scattered away behind the backward.
#pragma once

#include <optional>

#include "model/strategy/native/context.hpp"

namespace wirewise {

class Gradients {
  public:
    explicit Gradients(NativeContext& context);

    // Before the unit's backward: claims its slot.
    void open(Unit unit);
    // After it: starts the reduction when this micro-batch synchronises.
    void close(Unit unit);
    // The part of the unit's gradient that a kernel writes, or adds to when accumulates(unit).
    Operand operand(Unit unit, Slice slice) const;
    bool accumulates() const;
    DType type() const {
        return whole_ ? context_.plan().precision.gradient : context_.plan().precision.reduce;
    }

    // For the update: the rank's reduced gradient, and the event after which it is there.
    Operand reduced(Unit unit) const;
    std::optional<EventId> ready(Unit unit) const { return ready_[index(unit)]; }
    std::int64_t reduced_elements(Unit unit) const;

  private:
    struct Slot {
        BufferId buffer{};
        std::optional<EventId> released;
    };
    static std::size_t index(Unit unit) { return static_cast<std::size_t>(unit.layer + 1); }
    bool keeps_whole() const;
    bool synchronizes() const;
    void declare();
    void reduce(Unit unit);
    void scatter(Unit unit, BufferId source);
    void all_reduce(Axis axis, StreamId stream, Operand gradient, DType type, std::int64_t elements);

    NativeContext& context_;
    bool whole_ = true;            // a full gradient buffer per unit
    std::vector<BufferId> full_;   // by unit, when whole_
    std::vector<BufferId> share_;  // by unit, when gradients are sharded
    std::vector<Slot> slots_;
    std::vector<std::vector<std::size_t>> class_slots_;
    std::vector<std::size_t> next_slot_;
    std::vector<std::size_t> open_slot_;  // by unit
    std::vector<std::optional<EventId>> ready_;
};

}  // namespace wirewise
