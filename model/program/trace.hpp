// Timelines as a Chrome trace (Trace Event Format, JSON object form), read by ui.perfetto.dev and
// chrome://tracing.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "model/program/timeline.hpp"

namespace wirewise {

// One process of the trace: a rank, predicted or measured. Streams are its threads.
struct TraceSource {
    std::string name;  // "rank 0, predicted"
    const StepProgram* program = nullptr;
    const Timeline* timeline = nullptr;
    const std::vector<Bytes>* allocated_by_op = nullptr;  // from MemoryWalk; drawn as a counter when given
};

void write_trace(std::ostream& out, std::span<const TraceSource> sources);

}  // namespace wirewise
