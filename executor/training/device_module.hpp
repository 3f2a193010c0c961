// A device executor as a library of its own, loaded when it is asked for: everything else runs where the
// device's libraries are missing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/training/executor.hpp"
#include "executor/training/hyperparameters.hpp"
#include "executor/training/rank_group.hpp"
#include "executor/training/rendezvous.hpp"
#include "model/program/program.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

// Which rank this process is, and on which device.
struct DeviceRank {
    int rank = 0, device = 0;
    Rendezvous* rendezvous = nullptr;  // null: a rank alone
    RankGroups* staged = nullptr;      // collectives through host memory instead of the device's wires
    bool tune = true;                  // time the libraries' kernels before the first step
};

// A time measured again and again: the median, and how far apart the quartiles lie.
struct Timing {
    Seconds median, spread;
    int repeats = 0;
};
struct KernelTiming {
    Kernel kernel;
    Timing time;
};
struct TransferTiming {
    MemorySpace from{}, to{};
    Bytes bytes;
    Timing time;
};
// What a device costs whatever it computes.
struct DeviceCosts {
    std::vector<TransferTiming> transfers;
    Timing launch;             // the host's time to launch one kernel
    Bytes context, libraries;  // in use once the runtime, then the libraries have started
};

// A collective of the first `ranks` ranks, alone.
struct CollectiveTiming {
    CollectiveKind kind{};
    Bytes bytes;  // of the full buffer
    int ranks = 0;
    Timing time;
};
// A matrix product and a collective at the same time, each against alone.
struct ContentionTiming {
    Gemm product;
    Timing product_alone, product_beside;
    CollectiveTiming collective;  // alone
    Timing collective_beside;
};
// What the wires between the ranks cost. On rank 0 the times; on the others nothing.
struct WireCosts {
    Bytes communicator;  // device memory of one communicator of all ranks, once it has been used
    std::vector<CollectiveTiming> collectives;
    std::vector<ContentionTiming> contention;
};

class DeviceModule {
  public:
    virtual ~DeviceModule() = default;
    virtual int device_count() const = 0;  // 0 where there is no driver
    virtual std::string device_name(int device) const = 0;
    // Of the libraries that all ranks must have alike: name and version.
    virtual std::vector<std::pair<std::string, std::string>> versions() const = 0;
    // Lowers, verifies, allocates and binds. Throws InputError for a model or a plan that is priced but not
    // computed, RunError where the device fails. `model` must outlive the executor.
    virtual std::unique_ptr<Executor> make(const Transformer& model, const ParallelPlan& plan,
                                           const Hyperparameters& numbers, const DeviceRank& rank) = 0;

    // Before anything else uses the device in this process.
    virtual DeviceCosts measure_device(int device) = 0;
    // Every distinct kernel of the plan's step, each alone with cold caches, on the values of a real step;
    // one rank.
    virtual std::vector<KernelTiming> measure_kernels(const Transformer& model, const ParallelPlan& plan,
                                                      int device) = 0;
    // Called by all ranks together: collectives of the first 2, 3, ... of them by size, and beside a product.
    // `progress` hears what comes next.
    virtual WireCosts measure_wires(const DeviceRank& rank,
                                    const std::function<void(const std::string&)>& progress) = 0;
};

// What such a library exports under this name.
using DeviceModuleEntry = DeviceModule* (*)();
constexpr const char* kDeviceModuleEntry = "wirewise_device_module";

}  // namespace wirewise
