#include "tools/run/cuda_backend.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "executor/ranks/socket_groups.hpp"
#include "model/program/memory_plan.hpp"
#include "model/strategy/lower.hpp"
#include "model/topology/live.hpp"
#include "model/units/error.hpp"
#include "simulator/planner/estimate.hpp"
#include "tools/inputs/machine.hpp"
#include "tools/inputs/profile.hpp"
#include "tools/run/job_environment.hpp"
#include "tools/run/load_module.hpp"

namespace wirewise {

namespace {

// For development: several ranks share a GPU, and their collectives go through host memory and sockets.
constexpr const char* kStagedVariable = "WIREWISE_STAGED_COLLECTIVES";

bool staged() {
    const char* const value = std::getenv(kStagedVariable);
    return value && std::string_view(value) == "1";
}

Machine machine_of_run(const RunInputs& inputs, std::vector<std::string>& warnings) {
    if (!inputs.machine.machine.empty()) return machine_of(inputs.machine, warnings);
    ImportHints hints;
    if (!inputs.machine.gpu.empty()) hints.gpu = &gpu_named(inputs.machine.gpu);
    return machine_of(import_live(hints), "this machine", warnings);
}

// Bytes go up and down between host and device; what happens between is not priced.
CollectiveCost staged_wires(const CopyCosts& copy) {
    return [copy](Axis, CollectiveKind, Bytes bytes) {
        CollectivePrice price;
        price.seconds = bytes / copy.device_to_host + bytes / copy.host_to_device;
        price.channels = 1;
        return price;
    };
}

// Where a run is, with all that its site refers to.
struct RunSite {
    RunSite(const RunInputs& inputs, const std::string& profile_file, int gpus)
        : machine(machine_of_run(inputs, warnings)),
          environment(nccl_environment_here()),
          profile(profile_of(profile_file, machine, warnings)),
          samples(samples_of(profile_file)),
          site(machine, environment, profile, &samples, gpus_of_job(machine, gpus)) {
        require_one_gpu_kind(machine, site.gpus());
    }
    RunSite(const RunSite&) = delete;
    RunSite& operator=(const RunSite&) = delete;

    std::vector<std::string> warnings;
    const Machine machine;
    const NcclEnvironment environment;
    const CostProfile profile;
    const CollectiveSamples samples;
    const Site site;
};

class CudaBackend final : public Backend {
  public:
    explicit CudaBackend(DeviceModule& module) : module_(module) {}

    std::string_view name() const override { return "cuda"; }
    bool needs_processes() const override { return true; }
    int most_ranks() const override { return module_.device_count(); }
    void place_ranks(const RunInputs& inputs) const override {
        std::vector<std::string> warnings;
        if (!staged()) choose_visible_gpus(machine_of_run(inputs, warnings), inputs.plan.mesh.world());
    }

    std::vector<Fact> facts() const override {
        std::vector<Fact> facts{{"GPU", module_.device_name(0)},
                                {"staged collectives", staged() ? "yes" : "no"}};
        for (const auto& [library, version] : module_.versions()) facts.push_back({library, version});
        return facts;
    }

    Prediction predict(const RunInputs& inputs, const std::string& profile_file) override {
        const int ranks = inputs.plan.mesh.world();
        const bool through_host = staged() && ranks > 1;
        const auto here = std::make_shared<const RunSite>(inputs, profile_file, through_host ? 1 : ranks);
        const Site& site = here->site;
        const CostProfile& profile = here->profile;

        Prediction prediction{.program = lower(inputs.model, inputs.plan, Phase::steady_step)};
        const RuntimeCosts& costs = profile.runtime(name_of(inputs.plan.runtime));
        if (through_host) {
            prediction.wires = [](const CostProfile& of) { return staged_wires(of.copy); };
            prediction.timeline = simulate(prediction.program, profile, staged_wires(profile.copy), costs);
            prediction.memory = memory_of(inputs, costs.context_bytes);
        } else {
            prediction.wires = [here, mesh = inputs.plan.mesh](const CostProfile&) -> CollectiveCost {
                return [here, wires = here->site.wires(mesh)](Axis axis, CollectiveKind kind, Bytes bytes) {
                    return wires(axis, kind, bytes);
                };
            };
            prediction.timeline = simulate_on(site, inputs.plan, prediction.program);
            prediction.memory =
                memory_of(inputs, estimate_memory(inputs.model, inputs.plan, site).runtime.total());
        }
        const auto peak = site.gpu().dense_peak.find(inputs.plan.precision.compute);
        if (peak != site.gpu().dense_peak.end()) prediction.peak = peak->second;
        prediction.profile = profile;
        const Origin& origin = profile.origins.at("gemm");
        prediction.origin =
            fmt::format("profile {}, {} samples of {}", profile.name, origin.samples, origin.date);
        return prediction;
    }

    std::unique_ptr<Executor> make(const RunInputs& inputs, TcpRendezvous* ranks) override {
        DeviceRank who{.device = device_of(ranks)};
        if (ranks) {
            who.rank = ranks->rank();
            who.rendezvous = ranks;
        }
        if (ranks && staged()) {
            links_.emplace(*ranks);
            groups_.emplace(*links_, inputs.plan.mesh.replicate, inputs.plan.mesh.shard);
            who.staged = &*groups_;
        }
        return module_.make(inputs.model, inputs.plan, inputs.numbers, who);
    }

  private:
    int device_of(const TcpRendezvous* ranks) const {
        const int count = module_.device_count(), local = ranks ? std::max(0, ranks->local_rank()) : 0;
        if (staged() || count == 1) return local % count;  // one: its launcher shows each rank its own
        if (local < count) return local;
        throw InputError(
            "--gpus",
            fmt::format("rank {} would be on GPU {}; this machine has {}", ranks->rank(), local, count),
            fmt::format("write at most --gpus {}", count));
    }

    static ExecutorMemory memory_of(const RunInputs& inputs, Bytes fixed) {
        const StepProgram load = lower(inputs.model, inputs.plan, Phase::load);
        const StepProgram step = lower(inputs.model, inputs.plan, Phase::steady_step);
        const StepProgram* const programs[] = {&load, &step};
        const Bytes planned = plan_memory(programs).bytes;
        return {planned, planned, planned + fixed};
    }

    DeviceModule& module_;
    std::optional<PeerLinks> links_;
    std::optional<SocketGroups> groups_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() {
    const LoadedModule& loaded = cuda_module();
    if (!loaded.module)
        throw InputError(
            "--backend", "cuda cannot be used: " + loaded.why,
            "write --backend host, or install what is missing and put its folder into LD_LIBRARY_PATH");
    if (loaded.module->device_count() == 0)
        throw InputError("--backend", "cuda cannot be used: no NVIDIA GPU or driver here",
                         "write --backend host");
    return std::make_unique<CudaBackend>(*loaded.module);
}

std::unique_ptr<Backend> find_cuda_backend() {
    const LoadedModule& loaded = cuda_module();
    if (!loaded.module || loaded.module->device_count() == 0) return nullptr;
    return std::make_unique<CudaBackend>(*loaded.module);
}

}  // namespace wirewise
