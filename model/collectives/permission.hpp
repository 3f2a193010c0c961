// Which transport NCCL takes between two GPUs of one server.
#pragma once

#include "model/collectives/wires.hpp"

namespace wirewise {

// Rules of NCCL v2.30.7 (src/graph/paths.cc, read 2026-11): peer-to-peer up to a path class (default PXB; any
// class on an AMD host of at most two GPUs) if CUDA allows it; else through host memory; else sockets.
Transport transport_between(const Machine& machine, const NcclEnvironment& environment, int gpu_a, int gpu_b,
                            PathClass path);

}  // namespace wirewise
