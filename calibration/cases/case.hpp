// One measured case: what ran, and what it was measured to take. Read from files (read_cases.hpp), predicted
// and compared by `wirewise validate`.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "calibration/published_collectives.hpp"
#include "model/program/program.hpp"

namespace wirewise {

enum class MeasuredQuantity : std::uint8_t {
    peak_allocated_bytes,
    peak_reserved_bytes,
    device_used_bytes,
    step_seconds,
    collective_seconds,
    busbw,  // bytes per second
    kernel_seconds,
    oom,         // 1: ran out of memory, 0: did not
    host_oom,    // the same of the host's memory
    host_bytes,  // on one server
    step_ratio,  // how many times as long a step of another setting takes
};
std::string_view name_of(MeasuredQuantity quantity);
// Yes or no, not an amount.
bool is_verdict(MeasuredQuantity quantity);

struct Reading {
    MeasuredQuantity quantity{};
    double value = 0;  // SI
};

// The options of `plan` that describe the step, as typed on its command line.
struct TrainingStepCase {
    std::vector<std::string> plan_options;
    std::vector<std::string> other_options = {};  // of the setting it was compared with; empty: none
};

struct KernelCase {
    std::string machine;
    Kernel kernel;
    bool sustained = false;  // in a loop so long that the power limit holds the clock
};

// A transfer by a copy engine.
struct TransferCase {
    std::string machine;
    MemorySpace from = MemorySpace::device, to = MemorySpace::device;
    Bytes bytes;
};

// What one process of a runtime spends to launch a kernel, or holds on the device before it has a buffer;
// zero: not measured. No step's quantity: for calibration only.
struct ProcessCase {
    std::string machine, runtime;
    Seconds launch;
    Bytes fixed_memory;
    std::pair<std::string, Bytes> communicator;  // its transport, what one holds
};

// A matrix product and a collective in endless loops beside each other: how much longer each takes than
// alone. For calibration only.
struct ContentionCase {
    PublishedCollective collective;
    Gemm gemm;
    double matrix_slowdown = 0, collective_slowdown = 0;  // 0.12: 1.12 times as long
};

// What summaries are made by. Empty: not stated.
struct CaseLabels {
    std::string source;    // "measured", or the group of published rows: "llm-foundry"
    std::string hardware;  // a machine's name, else the row's own words
    std::string wire, strategy;
};

struct MeasuredCase {
    std::string id, place;  // place: "file:line"
    std::string date;       // of the measurement; empty: not stated
    CaseLabels labels;
    std::variant<TrainingStepCase, PublishedCollective, KernelCase, TransferCase, ProcessCase, ContentionCase>
        subject;
    std::vector<Reading> readings;
    std::vector<std::string> assumed;  // what the source does not state: such a case is reported apart
    std::string question;              // what a user asked about; empty: not a user's report
    std::string set_aside;  // why it is out of reach; empty: it is predicted. Never looks at an error
};

}  // namespace wirewise
