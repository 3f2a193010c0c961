// The memory interpreter: walks a plan's programs in order, allocating and freeing as the runtime would, and finds the
// peak. Memory follows host issue order. The allocator is the runtime's: an arena for our own, the caching allocator
// for PyTorch.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "model/program/program.hpp"

namespace wirewise {

// Hands out addresses of one device's memory. Sizes are requested bytes; `allocated` counts what the runtime's own
// counter would (rounded blocks), `reserved` what it holds from the driver.
class Allocator {
  public:
    using Address = std::int64_t;
    virtual ~Allocator() = default;
    virtual Address allocate(Bytes bytes, StreamId pool) = 0;
    virtual void free(Address address) = 0;
    virtual Bytes allocated() const = 0;
    virtual Bytes reserved() const = 0;
};

// Our own runtime: offsets of one arena, best fit, aligned to 512 bytes; reserved is the highest offset ever used.
std::unique_ptr<Allocator> make_arena();
// PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp, defaults of 2.11).
std::unique_ptr<Allocator> make_caching_allocator();

struct MemoryPeak {
    Bytes allocated;                           // the highest the runtime's counter reached
    Bytes reserved;                            // the highest held from the driver
    std::array<Bytes, kRoleCount> breakdown;   // bytes alive at the allocated peak, by Role; adds up to `allocated`
    Phase phase{};                             // the program in which the allocated peak fell
    OpId op{};                                 // the op being issued then
    std::string at;                            // that op, for people: "backward, layer 31, down_proj data gradient"
};

class MemoryWalk {
  public:
    explicit MemoryWalk(std::unique_ptr<Allocator> allocator);
    ~MemoryWalk();

    // Walks one program; persistent buffers stay for the next one. Returns the peak within this program.
    MemoryPeak run(const StepProgram& program);
    // Over all programs so far.
    const MemoryPeak& peak() const { return peak_; }

  private:
    struct State;
    std::unique_ptr<State> state_;
    MemoryPeak peak_;
};

// For every op: which transient buffers come to life just before it and which may be reused just after it.
struct Liveness {
    std::vector<std::uint32_t> born_at;   // buffer -> op index; op_count when never
    std::vector<std::uint32_t> freed_at;  // buffer -> op index after which it is free; op_count: at the program's end
};
Liveness liveness(const StepProgram& program);

}  // namespace wirewise
