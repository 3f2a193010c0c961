// When the memory of followed buffers (see Buffer) may be reused.
#pragma once

#include "model/program/liveness.hpp"

namespace wirewise {

// Moves the frees of followed buffers to where the host synchronises with a point of the step after they were
// dropped, or is so far ahead that the launch queue has made it wait for them; else to the program's end. The
// host is then taken to know that all that was issued before that point has ended, on every stream: streams
// of one step keep up with each other, and the walk has no clock.
void wait_for_host(const StepProgram& program, Liveness& live);

}  // namespace wirewise
