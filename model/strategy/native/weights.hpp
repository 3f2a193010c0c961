// Where a unit's weights are when its kernels run: in the parameter buffer itself, or in a slot that is
// filled ahead of time from the rank's shard (all-gather) or from parameters of another dtype (cast). Layers
// share two slots when they reshard after forward: the next layer is gathered while this one computes.
#pragma once

#include <optional>

#include "model/strategy/native/context.hpp"

namespace wirewise {

class Weights {
  public:
    explicit Weights(NativeContext& context);

    void begin_step();
    void begin_backward() { forward_ = false; }
    void begin_forward() { forward_ = true; }
    // Makes the compute stream wait for the unit's weights and starts filling those of the unit that follows.
    void need(Unit unit);
    // The unit's kernels are issued: its slot may be filled again once they have run.
    void done(Unit unit);

    Operand operand(Unit unit, Slice slice) const;
    BufferId stored(Unit unit) const { return stored_[index(unit)]; }
    // After the update of parameters that every rank keeps whole: each rank sends the share it updated.
    void publish(Unit unit);

  private:
    struct Slot {
        BufferId buffer{};
        std::int32_t holder = kNobody;  // index of the unit whose weights it holds
        std::optional<EventId> released;
    };
    struct Residence {
        std::size_t slot = 0;
        std::optional<EventId> filled;
    };
    static constexpr std::int32_t kNobody = -1;

    static std::size_t index(Unit unit) { return static_cast<std::size_t>(unit.layer + 1); }
    bool uses_slots() const;
    void declare_stored();
    void declare_slots();
    std::optional<Unit> following(Unit unit) const;
    bool resident(Unit unit) const;
    std::size_t choose_slot(Unit unit, Unit needed);
    void fill(Unit unit, Unit needed);
    void copy_into(Unit unit, BufferId slot);

    NativeContext& context_;
    bool forward_ = true;
    std::vector<BufferId> stored_;  // by unit
    std::vector<Slot> slots_;
    std::vector<std::vector<std::size_t>> class_slots_;  // slots of each layout class
    std::vector<std::size_t> next_slot_;                 // round robin within a class
    std::vector<Residence> residence_;                   // by unit
};

}  // namespace wirewise
