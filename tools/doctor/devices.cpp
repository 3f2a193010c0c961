#include "tools/doctor/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <fstream>

#include "model/units/text.hpp"
#include "tools/doctor/shared_library.hpp"

namespace wirewise {

namespace {

// NVML without its header: entry points and structures of nvml.h (CUDA 12 and 13).
using Device = void*;
struct Memory {
    unsigned long long total = 0, free = 0, used = 0;
};
struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device, pci_subsystem;
    char bus_id[32];
};
struct ProcessInfo {
    unsigned process = 0;
    unsigned long long used = 0;
    unsigned gpu_instance = 0, compute_instance = 0;
};
constexpr unsigned long long kNotAvailable = ~0ULL;

std::string program_of(unsigned process) {
    std::ifstream file(fmt::format("/proc/{}/comm", process));
    std::string name;
    std::getline(file, name);
    return name;
}

class Nvml {
  public:
    Nvml() {
        const auto init = library_.find<int()>("nvmlInit_v2");
        ready_ = init && init() == 0;
    }
    ~Nvml() {
        const auto shutdown = library_.find<int()>("nvmlShutdown");
        if (ready_ && shutdown) shutdown();
    }
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    explicit operator bool() const { return ready_; }

    std::string driver() const {
        std::array<char, 96> text{};
        call<int(char*, unsigned)>("nvmlSystemGetDriverVersion", text.data(), unsigned{text.size()});
        return text.data();
    }
    std::string cuda_version() const {
        int version = 0;
        call<int(int*)>("nvmlSystemGetCudaDriverVersion_v2", &version);
        return version == 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    }
    unsigned count() const {
        unsigned count = 0;
        call<int(unsigned*)>("nvmlDeviceGetCount_v2", &count);
        return count;
    }
    DeviceState state(unsigned index) const {
        Device device = nullptr;
        DeviceState state;
        if (!call<int(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", index, &device)) return state;
        std::array<char, 96> name{};
        call<int(Device, char*, unsigned)>("nvmlDeviceGetName", device, name.data(), unsigned{name.size()});
        PciInfo pci{};
        call<int(Device, PciInfo*)>("nvmlDeviceGetPciInfo_v3", device, &pci);
        Memory memory;
        call<int(Device, Memory*)>("nvmlDeviceGetMemoryInfo", device, &memory);
        state.name = name.data();
        state.bus_id = pci.bus_id;
        state.total = Bytes(static_cast<std::int64_t>(memory.total));
        state.used = Bytes(static_cast<std::int64_t>(memory.used));
        state.holders = holders(device);
        return state;
    }

  private:
    // True: the function is there and did well.
    template <class Function, class... Arguments>
    bool call(const char* name, Arguments... arguments) const {
        const auto function = library_.find<Function>(name);
        return function && function(arguments...) == 0;
    }

    std::vector<DeviceHolder> holders(Device device) const {
        std::array<ProcessInfo, 64> found{};
        unsigned count = found.size();
        if (!call<int(Device, unsigned*, ProcessInfo*)>("nvmlDeviceGetComputeRunningProcesses_v3", device,
                                                        &count, found.data()))
            return {};
        std::vector<DeviceHolder> all;
        for (unsigned i = 0; i < count && i < found.size(); ++i) {
            DeviceHolder holder{static_cast<int>(found[i].process), program_of(found[i].process), {}};
            if (found[i].used != kNotAvailable)
                holder.bytes = Bytes(static_cast<std::int64_t>(found[i].used));
            all.push_back(holder);
        }
        return all;
    }

    SharedLibrary library_{"libnvidia-ml.so.1"};
    bool ready_ = false;
};

}  // namespace

Devices devices_here() {
    Devices devices;
    const Nvml nvml;
    if (!nvml) return devices;
    devices.driver = nvml.driver();
    devices.cuda_version = nvml.cuda_version();
    for (unsigned i = 0; i < nvml.count(); ++i) devices.gpus.push_back(nvml.state(i));
    return devices;
}

std::string to_text(const std::vector<DeviceHolder>& holders) {
    std::vector<std::string> parts;
    for (const DeviceHolder& holder : holders)
        parts.push_back(fmt::format("{} by process {}{}",
                                    holder.bytes ? to_text(*holder.bytes) : "some memory", holder.process,
                                    holder.name.empty() ? "" : " (" + holder.name + ")"));
    return parts.empty() ? "nobody that can be seen" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace wirewise
