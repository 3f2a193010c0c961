// What a runtime's process spends and holds outside of kernels, taken from measurements as they are.
#pragma once

#include <string>
#include <vector>

#include "calibration/fit/profile_fit.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

struct ProcessSample {
    std::string runtime;
    Seconds launch;                              // of one kernel, the host's time; zero: not measured
    Bytes fixed_memory;                          // context and libraries; zero: not measured
    std::pair<std::string, Bytes> communicator;  // its transport, what one holds; zero: not measured
};

// Sets the runtimes' `kernel`, `context` and `communicator` to the samples' medians, but for what is `held`
// and what the profile does not have; what was set.
std::vector<FittedTerm> set_processes(Json& profile, const std::vector<ProcessSample>& samples,
                                      const std::vector<std::string>& held);

}  // namespace wirewise
