#include "model/cost/widths.hpp"

#include <algorithm>
#include <array>

#include "model/units/error.hpp"

namespace wirewise {

const MemoryWidths& Widths::memory_of(std::string_view runtime) const {
    auto found = memory.find(std::string(runtime));
    if (found == memory.end()) found = memory.find("other");
    ensure(found != memory.end(), "there are memory widths for every runtime");
    return found->second;
}

const Width& Widths::kernel_of(std::string_view kind) const {
    auto found = kernel.find(std::string(kind));
    if (found == kernel.end()) found = kernel.find("other");
    ensure(found != kernel.end(), "there is a width for every kernel");
    return found->second;
}

std::string_view width_kind(const Kernel& kernel) {
    constexpr std::array<std::string_view, 4> kinds{"gemm", "attention", "pointwise", "optimizer"};
    return kinds.at(kernel.index());
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
