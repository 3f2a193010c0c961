// Finds and loads libwirewise_cuda.so: beside this program, in its installation, or where
// WIREWISE_CUDA_LIBRARY says.
#pragma once

#include <string>

#include "executor/training/device_module.hpp"

namespace wirewise {

struct LoadedModule {
    DeviceModule* module = nullptr;  // null: `why` says what is missing
    std::string why;
};
// Once per process; the library stays loaded.
const LoadedModule& cuda_module();

}  // namespace wirewise
