// Where an executor puts every buffer of a plan's programs: offsets into one allocation made once, so that
// the bytes allocated equal the bytes planned. Made by the same walk and arena that predict the peak of our
// own runtime.
//
// Layout: [persistent buffers of stream 0 | of stream 1 | ... | transients of stream 0 | of stream 1 | ...].
// Streams share no region because memory freed under FreeRule::after_join is safe for later work of its home
// stream only. A region is as large as the hungriest program needs it.
#pragma once

#include <span>
#include <vector>

#include "model/program/program.hpp"

namespace wirewise {

struct MemoryPlan {
    std::vector<std::vector<std::int64_t>> offsets;  // by program, then buffer; -1: needs no memory there
    Bytes persistent_bytes;  // the front part, which keeps its contents between programs
    Bytes bytes;             // in all
};

// `programs` in the order in which they first run; persistent buffers keep their place in all of them.
MemoryPlan plan_memory(std::span<const StepProgram* const> programs);

}  // namespace wirewise
