// Hands out addresses of one device's memory, as a runtime's allocator does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "model/program/program.hpp"

namespace wirewise {

struct Block {
    std::int64_t address = -1;  // -1: zero bytes need no memory
    Bytes bytes;                // what the runtime's own counter adds for it: at least the bytes asked for
    std::uint32_t region = 0;   // addresses count within a region; regions never touch
    std::uint32_t handle = 0;   // the allocator's
};

class Allocator {
  public:
    virtual ~Allocator() = default;
    // `pool`: the stream whose memory it comes from; pools never share.
    virtual Block allocate(Bytes bytes, StreamId pool, Lifetime lifetime) = 0;
    // Two halves: the block counts no longer; its memory may be handed out again.
    void free(const Block& block) {
        drop(block);
        reuse(block);
    }
    virtual void drop(const Block& block) = 0;
    virtual void reuse(const Block& block) = 0;
    virtual Bytes allocated() const = 0;  // sum of the blocks handed out
    virtual Bytes reserved() const = 0;   // held from the driver
};

// Our own runtime: each stream's persistent and transient buffers have a region of their own; inside a region
// best fit, aligned to 512 bytes, freed neighbours merge. A region is as large as the highest offset ever
// used in it; reserved is the sum. Why regions: memory freed under FreeRule::after_join is safe for later
// work of its home stream only.
constexpr std::uint32_t arena_region(StreamId pool, Lifetime lifetime) {
    return 2 * static_cast<std::uint32_t>(pool) + (lifetime == Lifetime::transient ? 1 : 0);
}
constexpr Lifetime lifetime_of(std::uint32_t arena_region) {
    return arena_region % 2 == 1 ? Lifetime::transient : Lifetime::persistent;
}
std::unique_ptr<Allocator> make_arena();

// PyTorch's CUDA caching allocator at its defaults (c10/cuda/CUDACachingAllocator.cpp, 2.11: no expandable
// segments, no maximum split size, no garbage collection). With a limit, cached segments go back to the
// driver before reserved exceeds it; when that does not help it goes on, so that reserved > limit means out
// of memory, and by how much.
std::unique_ptr<Allocator> make_caching_allocator(std::optional<Bytes> limit = {});

}  // namespace wirewise
