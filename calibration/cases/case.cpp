#include "calibration/cases/case.hpp"

#include <array>

namespace wirewise {

std::string_view name_of(MeasuredQuantity quantity) {
    constexpr std::array<std::string_view, 11> names{"peak_allocated_bytes",
                                                     "peak_reserved_bytes",
                                                     "device_used_bytes",
                                                     "step_seconds",
                                                     "collective_seconds",
                                                     "busbw",
                                                     "kernel_seconds",
                                                     "oom",
                                                     "host_oom",
                                                     "host_bytes",
                                                     "step_ratio"};
    return names[static_cast<std::size_t>(quantity)];
}

bool is_verdict(MeasuredQuantity quantity) {
    return quantity == MeasuredQuantity::oom || quantity == MeasuredQuantity::host_oom;
}

}  // namespace wirewise
