// The one result type of running a StepProgram: the simulator predicts one, an executor measures one,
// calibration joins the two on the op's id.
#pragma once

#include <vector>

#include "model/program/program.hpp"

namespace wirewise {

// When an op ran on its stream. Host-only ops have no span.
struct Span {
    OpId op{};
    StreamId stream{};
    Instant begin, end;
};

struct Timeline {
    std::vector<Span> spans;  // in order of begin, then of op
    Instant host_end;         // when the host had issued everything
    Instant end;              // when the last op ended and the host was done: the step time
    Instant host_busy{};      // what the host itself needs to issue the step; 0: not known
};

// Where the step's time went; all wall-clock seconds of one rank.
struct TimelineSummary {
    Seconds step;
    Seconds compute;                // some compute or copy kernel ran, the update excluded
    Seconds communication;          // sum over communication ops
    Seconds exposed_communication;  // communication ran and no compute did
    Seconds optimizer;              // the update's kernels
    Seconds idle;                   // no stream ran anything (host launch, waits)
    Seconds host_busy;              // what the host needs to issue the step; 0: not known
    bool host_bound =
        false;  // the GPU waited for the host for over a tenth of the step, or the host needs nine tenths of it
};
TimelineSummary summarize(const StepProgram& program, const Timeline& timeline);

}  // namespace wirewise
