// The GPUs that the driver shows, and who holds their memory, as NVML says it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/units/quantity.hpp"

namespace wirewise {

struct DeviceHolder {
    int process = 0;
    std::string name;  // of the program; empty where it cannot be seen
    std::optional<Bytes> bytes;
};

struct DeviceState {
    std::string name, bus_id;
    Bytes total, used;
    std::vector<DeviceHolder> holders;
};

struct Devices {
    std::string driver;        // its version; empty: no driver
    std::string cuda_version;  // the newest that the driver runs
    std::vector<DeviceState> gpus;
};

// Loads the driver's library; empty where there is none.
Devices devices_here();

// "12.3 GB by process 4711 (python)", for all of them; "nobody that can be seen".
std::string to_text(const std::vector<DeviceHolder>& holders);

}  // namespace wirewise
