// Where an executor puts every buffer of a plan's programs: offsets into one allocation made once, so that
// the bytes allocated equal the bytes planned. Made by the same walk and arena that predict the peak of our
// own runtime.
//
// Layout: [persistent buffers | transients of stream 0 | transients of stream 1 | ...]. A stream's transients
// have a region of their own because memory freed under FreeRule::after_join is safe for later work of its
// home stream only; it is as large as the hungriest program needs it.
#pragma once

#include <span>
#include <vector>

#include "model/program/program.hpp"

namespace wirewise {

struct MemoryPlan {
    struct Region {
        Bytes offset, bytes;
    };
    std::vector<Region> regions;                     // 0: persistent; 1 + stream: its transients
    std::vector<std::vector<std::int64_t>> offsets;  // by program, then buffer; -1: needs no memory there
    Bytes bytes;                                     // in all

    Bytes persistent_bytes() const { return regions.empty() ? Bytes(0) : regions[0].bytes; }
};

// `programs` in the order in which they first run; persistent buffers keep their place in all of them.
MemoryPlan plan_memory(std::span<const StepProgram* const> programs);

}  // namespace wirewise
