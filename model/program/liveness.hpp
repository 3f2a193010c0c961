// From when to when each buffer needs memory. Memory follows host issue order: a buffer is born just before
// the first op that names it and is dropped by the host after the last. When its memory may be reused is the
// program's FreeRule. Of followed buffers: see followed.hpp.
#pragma once

#include <vector>

#include "model/program/program.hpp"

namespace wirewise {

struct Liveness {
    static constexpr std::uint32_t kNever = 0xFFFFFFFF;
    std::vector<std::uint32_t> born_at;  // buffer -> op index; kNever: no op but a Release names it
    std::vector<std::uint32_t>
        freed_at;  // buffer -> op index after which its memory may be reused; the op count when
                   // that is the program's end; kNever for persistent buffers that live on
    std::vector<std::uint32_t> dropped_at;  // buffer -> op index after which it no longer counts as
                                            // allocated; before freed_at where it is followed, else the same
};

// A persistent buffer is freed only where a Release names it; `born_at` is then its first use in this
// program.
Liveness liveness(const StepProgram& program);

}  // namespace wirewise
