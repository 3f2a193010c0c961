// The memory interpreter: walks a plan's programs in order, allocating and freeing as the runtime would, and
// finds the peak. Memory follows host issue order.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model/program/allocator.hpp"
#include "model/program/liveness.hpp"
#include "model/program/program.hpp"

namespace wirewise {

using BytesByRole = std::array<Bytes, kRoleCount>;

struct MemoryPeak {
    Bytes allocated;        // the highest the runtime's counter reached
    Bytes reserved;         // the highest held from the driver
    Bytes host;             // the highest in host memory, this rank's
    BytesByRole breakdown;  // alive at the allocated peak, by Role, rounding included: adds up to `allocated`
    Phase phase{};          // the program in which the allocated peak fell
    OpId op{};              // the op being issued then
    std::string at;         // that op, for people: "backward, micro-batch 0, layer 31, down data gradient"
};

// Where a buffer was put: an address within a region of the allocator. No bytes: nowhere.
struct BufferPlace {
    std::int64_t address = -1;
    Bytes bytes;  // of its block
    std::uint32_t region = 0;
};

class MemoryWalk {
  public:
    explicit MemoryWalk(std::unique_ptr<Allocator> allocator);
    ~MemoryWalk();
    MemoryWalk(MemoryWalk&&) noexcept;
    MemoryWalk& operator=(MemoryWalk&&) noexcept;

    // What a run may also report; null members are skipped.
    struct Wanted {
        std::vector<Bytes>* allocated_by_op = nullptr;   // op -> allocated while it is issued
        std::vector<BufferPlace>* placements = nullptr;  // by buffer
    };

    // Walks one program; persistent buffers stay for the next one. Returns the peak within this program.
    // Programs of one plan give a persistent buffer the same id and size (ensured).
    MemoryPeak run(const StepProgram& program) { return run(program, Wanted{}); }
    MemoryPeak run(const StepProgram& program, const Wanted& wanted);

    // Over all programs so far.
    const MemoryPeak& peak() const { return peak_; }
    Bytes allocated() const { return allocator_->allocated(); }
    Bytes reserved() const { return allocator_->reserved(); }
    Bytes host() const { return host_; }

  private:
    struct Resident {  // a live persistent buffer
        Block block;
        Bytes asked;
        bool live = false;
    };
    class Step;

    std::unique_ptr<Allocator> allocator_;
    std::vector<Resident> residents_;  // by buffer id
    Bytes host_;                       // alive in host memory
    BytesByRole alive_{};
    MemoryPeak peak_;
};

}  // namespace wirewise
