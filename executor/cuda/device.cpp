#include "executor/cuda/device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "executor/cuda/check.hpp"
#include "model/units/text.hpp"

namespace wirewise::cuda {

// NVML's functions and structures, from its documentation (API reference, release 580): the toolkit's header
// is not always installed.
struct DeviceWatch::Nvml {
    struct Memory {
        unsigned long long total, free, used;
    };
    struct Process {
        unsigned pid;
        unsigned long long used;
        unsigned gpu_instance, compute_instance;
    };
    using Init = int (*)();
    using HandleByBus = int (*)(const char*, void**);
    using MemoryInfo = int (*)(void*, Memory*);
    using Processes = int (*)(void*, unsigned*, Process*);

    void* library = nullptr;
    Init init = nullptr, shutdown = nullptr;
    HandleByBus handle_by_bus = nullptr;
    MemoryInfo memory_info = nullptr;
    Processes processes = nullptr;

    bool load() {
        library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        if (!library) return false;
        init = reinterpret_cast<Init>(dlsym(library, "nvmlInit_v2"));
        shutdown = reinterpret_cast<Init>(dlsym(library, "nvmlShutdown"));
        handle_by_bus = reinterpret_cast<HandleByBus>(dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
        memory_info = reinterpret_cast<MemoryInfo>(dlsym(library, "nvmlDeviceGetMemoryInfo"));
        processes = reinterpret_cast<Processes>(dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3"));
        return init && shutdown && handle_by_bus && memory_info && init() == 0;
    }
    ~Nvml() {
        if (library && shutdown) shutdown();
        if (library) dlclose(library);
    }
};

namespace {

struct RuntimeMemory {
    std::size_t free = 0, total = 0;
};
RuntimeMemory runtime_memory() {
    RuntimeMemory memory;
    check(cudaMemGetInfo(&memory.free, &memory.total), "cudaMemGetInfo");
    return memory;
}

}  // namespace

int device_count() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string device_name(int device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return properties.name;
}

std::vector<std::pair<std::string, std::string>> library_versions() {
    int nccl = 0;
    check(ncclGetVersion(&nccl), "ncclGetVersion");
    return {{"NCCL", std::to_string(nccl)},
            {"cuDNN", std::to_string(cudnnGetVersion())},
            {"cuBLASLt", std::to_string(cublasLtGetVersion())}};
}

DeviceWatch::DeviceWatch(int device) {
    std::array<char, 32> bus{};
    if (cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device) != cudaSuccess) return;
    nvml_ = std::make_unique<Nvml>();
    if (!nvml_->load() || nvml_->handle_by_bus(bus.data(), &handle_) != 0) handle_ = nullptr;
}

DeviceWatch::~DeviceWatch() = default;

Bytes DeviceWatch::used() const {
    Nvml::Memory memory{};
    if (handle_ && nvml_->memory_info(handle_, &memory) == 0)
        return Bytes(static_cast<std::int64_t>(memory.used));
    const RuntimeMemory runtime = runtime_memory();
    return Bytes(static_cast<std::int64_t>(runtime.total - runtime.free));
}

Bytes DeviceWatch::free() const { return Bytes(static_cast<std::int64_t>(runtime_memory().free)); }

std::string DeviceWatch::holders() const {
    std::array<Nvml::Process, 64> processes{};
    auto count = static_cast<unsigned>(processes.size());
    if (!handle_ || !nvml_->processes || nvml_->processes(handle_, &count, processes.data()) != 0) return {};
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
        const auto held = Bytes(static_cast<std::int64_t>(processes[i].used));
        text +=
            fmt::format("{}process {} holds {}", text.empty() ? "" : ", ", processes[i].pid, to_text(held));
    }
    return text;
}

}  // namespace wirewise::cuda
