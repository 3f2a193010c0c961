// The single checks behind verify(). Each looks at one op at a time, in issue order, and notes what is wrong.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/program/byte_ranges.hpp"
#include "model/program/liveness.hpp"
#include "model/program/stream_order.hpp"
#include "model/program/verify.hpp"
#include "model/program/walk.hpp"

namespace wirewise {

class FaultNotes {
  public:
    explicit FaultNotes(const StepProgram& program) : program_(program) {}
    // `what` continues "op 12 (backward, micro-batch 0, gate_up) ".
    void add(FaultKind kind, std::size_t op, const std::string& what);
    bool empty() const { return faults_.empty(); }
    // In op order; of one op, in the order found.
    std::vector<Fault> sorted() &&;

  private:
    const StepProgram& program_;
    std::vector<Fault> faults_;
};

std::string buffer_text(const StepProgram& program, BufferId id);
// Allocate and Release name buffers and touch no bytes.
inline bool touches_bytes(const Op& op) {
    return !std::holds_alternative<Allocate>(op.payload) && !std::holds_alternative<Release>(op.payload);
}
// The operand's bytes, cut to its buffer.
struct ByteRange {
    std::int64_t begin = 0, end = 0;
};
ByteRange inside_buffer(const StepProgram& program, const Operand& operand);

// Every id names something. The other checks rely on it.
void check_ids(const StepProgram& program, FaultNotes& notes);

// Kernels of a host stream work on buffers in host memory, all others on the device; a copy's operands lie
// where it says.
void check_places(const StepProgram& program, std::size_t index, FaultNotes& notes);

// Every wait follows the record of its event.
class EventCheck {
  public:
    explicit EventCheck(const StepProgram& program) : recorded_(program.event_count, false) {}
    void visit(const Op& op, std::size_t index, FaultNotes& notes);

  private:
    std::vector<bool> recorded_;
};

// Bytes are written before they are read, conflicting accesses are ordered, and released buffers stay
// untouched.
class AccessCheck {
  public:
    explicit AccessCheck(const StepProgram& program);
    void visit(std::size_t index, const StreamOrder& order, FaultNotes& notes);

  private:
    bool in_range(const Operand& operand, std::size_t index, FaultNotes& notes) const;
    void mention(const Operand& operand, std::size_t index, FaultNotes& notes);
    void read(const Operand& operand, std::size_t index, const StreamOrder& order, FaultNotes& notes);
    void write(const Operand& operand, std::size_t index, const StreamOrder& order, FaultNotes& notes);
    bool follows(std::size_t index, std::uint32_t earlier, const StreamOrder& order) const;
    void note_conflict(const Operand& operand, std::size_t index, std::uint32_t other,
                       FaultNotes& notes) const;

    const StepProgram& program_;
    std::vector<AccessHistory> histories_;    // by buffer
    std::vector<std::uint32_t> released_at_;  // by buffer: one more than the op; 0: not released
};

// In a training step each byte of a persistent parameter (and master parameter) is written, and by the
// optimizer no more than once. A part that another rank updates arrives through a collective or a copy.
class UpdateCheck {
  public:
    explicit UpdateCheck(const StepProgram& program) : program_(program), buffers_(program.buffers.size()) {}
    void visit(std::size_t index, FaultNotes& notes);
    void finish(FaultNotes& notes) const;

  private:
    struct Ranges {
        ByteSet updated, written;
    };
    const StepProgram& program_;
    std::vector<Ranges> buffers_;
};

// Memory that returns to its pool is no longer in use: under FreeRule::at_last_use its home stream follows
// all uses at the free; under either rule, whoever uses the next buffer at that place follows the uses of the
// last one there.
class MemoryCheck {
  public:
    explicit MemoryCheck(const StepProgram& program);
    void visit(std::size_t index, const StreamOrder& order, FaultNotes& notes);

  private:
    using Point = StreamOrder::Point;
    Point* uses(std::size_t buffer) { return &uses_[buffer * streams_]; }
    Point* before(std::size_t buffer) { return &before_[buffer * streams_]; }
    void settle(std::size_t buffer);
    bool placed(std::size_t buffer) const { return places_[buffer].bytes > Bytes(0); }
    void check_reuse(std::size_t buffer, std::size_t index, const StreamOrder& order, FaultNotes& notes);
    void free(std::size_t buffer, std::size_t index, const StreamOrder& order, FaultNotes& notes);

    const StepProgram& program_;
    std::size_t streams_;
    Liveness live_;
    std::vector<BufferPlace> places_;
    std::vector<std::uint32_t> by_free_;  // buffers in the order they are freed
    std::size_t freed_ = 0;               // how many of them have been
    std::vector<Point> uses_;             // buffer x stream: one more than the last op that used it
    std::vector<Point> before_;           // buffer x stream: the same of those that lay there before
    std::vector<bool> told_;              // by buffer: a fault was noted
    Occupancy dead_;
};

}  // namespace wirewise
