#include "calibration/cases/case.hpp"

#include <array>

namespace wirewise {

std::string_view name_of(MeasuredQuantity quantity) {
    constexpr std::array<std::string_view, 8> names{"peak_allocated_bytes", "peak_reserved_bytes",
                                                    "device_used_bytes",    "step_seconds",
                                                    "collective_seconds",   "busbw",
                                                    "kernel_seconds",       "oom"};
    return names[static_cast<std::size_t>(quantity)];
}

}  // namespace wirewise
