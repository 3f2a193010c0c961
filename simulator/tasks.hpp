// A StepProgram made ready for timing: one FIFO of priced tasks per stream, with the moment the host issues
// each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "simulator/simulate.hpp"

namespace wirewise {

using Picoseconds = std::int64_t;

enum class TaskKind : std::uint8_t {
    gemm,
    attention,
    memory_bound,
    side_kernel,  // a kernel on a stream that is not for compute
    host_kernel,  // computed by the CPU
    collective,
    copy,
    record,
    wait,
};

// Most links that a step's transfers can share.
constexpr std::size_t kLinks = 16;

struct Task {
    TaskKind kind = TaskKind::wait;
    std::uint8_t stream = 0;
    std::uint8_t axis = 0;  // of a collective
    std::uint8_t link = 0;  // collectives, copies: those of one link share it; below kLinks
    std::uint32_t op = 0;
    std::uint32_t event = 0;  // of record and wait
    std::uint32_t turn = 0;   // of a collective among those of its axis, in issue order
    std::uint32_t epoch = 0;  // host synchronisations before it
    Picoseconds issue = 0;    // host time of its issue, synchronisations not counted
    double work = 0;          // picoseconds alone
    // Of a collective: the share of the SMs that compute loses to it; how long it waits for them while
    // compute runs, in mean residuals of a running kernel; how much longer it takes beside compute.
    double share = 0, delay = 0, slowdown = 0;
};

// The host waits until the first `tasks` tasks of a stream have ended, and goes on when it has spent `issue`
// of its own time.
struct HostBarrier {
    std::uint8_t stream = 0;
    std::uint32_t tasks = 0;
    Picoseconds issue = 0;
};

struct StepTasks {
    std::vector<std::vector<Task>> streams;
    std::vector<HostBarrier> barriers;
    std::uint32_t event_count = 0;
    Picoseconds host_total = 0;       // the host's own work
    Picoseconds host_lead_limit = 0;  // host time of as many ops as may wait to run
    double gemm_work = 0, attention_work = 0;
    double mean_residual = 0;  // mean remaining time of a running matrix kernel, at a random moment
};

StepTasks price(const StepProgram& program, const CostProfile& profile, const CollectiveCost& wires,
                const RuntimeCosts& runtime);

}  // namespace wirewise
