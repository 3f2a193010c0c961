// What a run's step sent over which wires.
#pragma once

#include <string>
#include <vector>

#include "tools/run/backend.hpp"

namespace wirewise {

// All calls of one collective along one axis, in one step of one rank.
struct WireUse {
    CollectiveKind kind{};
    Axis axis{};
    std::string transport;  // "p2p", "shm", "net": of the slowest hop; empty on the host backend
    std::int64_t calls = 0;
    Bytes buffers;  // summed; S of nccl-tests
    Bytes sent;     // by each rank, as a ring does it
};
std::vector<WireUse> wire_uses(const StepProgram& program, const Prediction& prediction);

}  // namespace wirewise
