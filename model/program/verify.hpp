// Proves a StepProgram sound before anything prices or runs it.
#pragma once

#include <string>
#include <vector>

#include "model/program/program.hpp"

namespace wirewise {

enum class FaultKind : std::uint8_t {
    read_before_write,     // a transient was read although nothing wrote those bytes
    unordered_conflict,    // two streams touch the same bytes, one writing, with no wait between
    wait_before_record,    // a wait on an event that no earlier op records
    freed_early,           // memory returns to its pool while another stream may still use it
    used_after_release,    // an op names a buffer the runtime has let go
    double_update,         // a parameter's bytes are updated twice in a step
    missing_update,        // a trained parameter is never updated
    operand_out_of_range,  // an operand's bytes leave its buffer
    unknown_id,            // an id that names nothing
    wrong_memory,          // an operand lies in host memory where the op works on the device, or the reverse
    collective_mismatch,   // members of a group would issue different collectives
};
std::string_view name_of(FaultKind kind);

struct Fault {
    FaultKind kind;
    OpId op{};
    std::string text;  // op, buffer and what is wrong, for people
};

// All faults, in op order; empty when sound. `training_step` programs must update each parameter exactly
// once.
std::vector<Fault> verify(const StepProgram& program);

// Programs of ranks in one group must issue the same collectives in the same order per axis.
std::vector<Fault> verify_group(std::span<const StepProgram* const> ranks);

}  // namespace wirewise
