#include "model/topology/live.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>

#include "model/units/error.hpp"

namespace wirewise {
namespace {

constexpr const char* kOption = "--live";

std::string output_of(const char* command) {
    std::string text;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command, "r"), ::pclose);
    if (!pipe) return text;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
        text.append(buffer.data(), got);
    return text;
}

// NVML without its header: the few stable entry points that are needed (nvml.h of CUDA 12).
class Nvml {
  public:
    Nvml()
        : library_(::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL), [](void* l) {
              if (l) ::dlclose(l);
          }) {
        const auto init = entry<int()>("nvmlInit_v2");
        running_ = init && init() == 0;
    }
    ~Nvml() {
        const auto shutdown = entry<int()>("nvmlShutdown");
        if (running_ && shutdown) shutdown();
    }
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    // "0, 00000000:18:00.0, NVIDIA H200", a line per GPU, as nvidia-smi --query-gpu prints it; empty without
    // NVML.
    std::string gpu_lines() const {
        const auto count = entry<int(unsigned*)>("nvmlDeviceGetCount_v2");
        const auto handle = entry<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
        const auto name = entry<int(void*, char*, unsigned)>("nvmlDeviceGetName");
        const auto pci = entry<int(void*, PciInfo*)>("nvmlDeviceGetPciInfo_v3");
        unsigned gpus = 0;
        if (!running_ || !count || !handle || !name || !pci || count(&gpus) != 0) return {};
        std::string lines;
        for (unsigned index = 0; index < gpus; ++index) {
            void* device = nullptr;
            std::array<char, 96> product{};
            PciInfo info{};
            if (handle(index, &device) != 0 || name(device, product.data(), product.size() - 1) != 0)
                continue;
            if (pci(device, &info) != 0) continue;
            lines += fmt::format("{}, {}, {}\n", index, info.bus_id, product.data());
        }
        return lines;
    }

  private:
    // nvmlPciInfo_t.
    struct PciInfo {
        char legacy_bus_id[16];
        unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
        char bus_id[32];
    };

    template <class Signature>
    Signature* entry(const char* symbol) const {
        return library_ ? reinterpret_cast<Signature*>(::dlsym(library_.get(), symbol)) : nullptr;
    }

    std::unique_ptr<void, void (*)(void*)> library_;
    bool running_ = false;
};

}  // namespace

std::string live_text() {
    const std::string matrix = output_of("nvidia-smi topo -m 2>/dev/null");
    if (matrix.empty())
        throw InputError(
            kOption, "nvidia-smi does not answer: there is no NVIDIA driver here",
            "run it on the GPU machine, or paste its output: nvidia-smi topo -m | wirewise topo -");
    return Nvml().gpu_lines() + matrix;
}

ImportResult import_live(const ImportHints& hints) { return import_machine(live_text(), hints); }

}  // namespace wirewise
