#include "model/cost/widths.hpp"

#include <algorithm>

#include "model/units/error.hpp"

namespace wirewise {

const MemoryWidths& Widths::memory_of(std::string_view runtime) const {
    auto found = memory.find(std::string(runtime));
    if (found == memory.end()) found = memory.find("other");
    ensure(found != memory.end(), "there are memory widths for every runtime");
    return found->second;
}

const StepWidths* Widths::step_of(std::string_view runtime) const {
    const auto found = step.find(std::string(runtime));
    return found == step.end() ? nullptr : &found->second;
}

const Width& Widths::unmeasured_step() const {
    ensure(!step.empty(), "there is a step width");
    const auto wider = [](const auto& a, const auto& b) {
        return a.second.extrapolated.half < b.second.extrapolated.half;
    };
    return std::max_element(step.begin(), step.end(), wider)->second.extrapolated;
}

}  // namespace wirewise
