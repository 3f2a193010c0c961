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
    oom,  // 1: ran out of memory, 0: did not
};
std::string_view name_of(MeasuredQuantity quantity);

struct Reading {
    MeasuredQuantity quantity{};
    double value = 0;  // SI
};

// The options of `plan` that describe the step, as typed on its command line.
struct TrainingStepCase {
    std::vector<std::string> plan_options;
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
    std::variant<TrainingStepCase, PublishedCollective, KernelCase, TransferCase, ProcessCase> subject;
    std::vector<Reading> readings;
    bool apart = false;     // rests on something assumed: reported in a line of its own
    std::string set_aside;  // why it is out of reach; empty: it is predicted. Never looks at an error
};

}  // namespace wirewise
