#include "tools/run/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "executor/host/host_executor.hpp"
#include "executor/host/host_profile.hpp"
#include "executor/ranks/socket_groups.hpp"
#include "model/program/memory_plan.hpp"
#include "model/strategy/lower.hpp"
#include "model/units/error.hpp"
#include "simulator/simulate.hpp"
#include "tools/run/cuda_backend.hpp"

namespace wirewise {

namespace {

CostProfile profile_of_host(const std::string& file) {
    CostProfile profile = load_profile(file);
    if (profile.gpu != "host")
        throw InputError("--profile",
                         fmt::format("{} describes {}, not this machine's CPU", file, profile.gpu),
                         "make one with run --backend host --calibrate");
    return profile;
}

std::string origin_of(const CostProfile& profile, const std::string& file) {
    const Origin& origin = profile.origins.at("gemm");
    return fmt::format("{}{}, {} kernels, mean residual {:.0f} %", file.empty() ? "" : file + ": ",
                       origin.source, origin.samples, 100 * origin.residual);
}

class HostBackend final : public Backend {
  public:
    std::string_view name() const override { return "host"; }
    int most_ranks() const override {
        return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    }
    void place_ranks(const RunInputs& inputs) const override {
        if (!inputs.machine.gpu_ids.empty())
            throw InputError("--gpu-ids", "ranks run on this machine's CPU",
                             "write --gpus with their number");
    }

    Prediction predict(const RunInputs& inputs, const std::string& profile_file) override {
        const StepProgram load = lower(inputs.model, inputs.plan, Phase::load);
        const StepProgram step = lower(inputs.model, inputs.plan, Phase::steady_step);
        const StepProgram* const programs[] = {&load, &step};
        const Bytes planned = plan_memory(programs).bytes;
        Prediction prediction{.program = as_run_on_host(step)};
        prediction.profile = profile_file.empty()
                                 ? host_profile(bench_host(inputs.model, inputs.plan, inputs.numbers), step)
                                 : profile_of_host(profile_file);
        prediction.wires = [sizes = step.axis_sizes](const CostProfile& profile) -> CollectiveCost {
            return [&profile, sizes](Axis axis, CollectiveKind kind, Bytes bytes) {
                return host_collective_price(profile, sizes[static_cast<std::size_t>(axis)], kind, bytes);
            };
        };
        prediction.timeline =
            simulate(prediction.program, prediction.profile, prediction.wires(prediction.profile),
                     prediction.profile.runtime("native"));
        prediction.memory = {planned, planned, planned + host_scratch(step)};
        prediction.origin = origin_of(prediction.profile, profile_file);
        return prediction;
    }

    std::unique_ptr<Executor> make(const RunInputs& inputs, TcpRendezvous* ranks) override {
        if (!ranks) return make_host_executor(inputs.model, inputs.plan, inputs.numbers);
        links_.emplace(*ranks);
        groups_.emplace(*links_, inputs.plan.mesh.replicate, inputs.plan.mesh.shard);
        const RankPlace& place = ranks->place();
        return make_host_executor(inputs.model, inputs.plan, inputs.numbers,
                                  {*groups_, place.rank, std::max(1, place.local_world)});
    }

  private:
    std::optional<PeerLinks> links_;
    std::optional<SocketGroups> groups_;
};

}  // namespace

std::unique_ptr<Backend> backend_of(const std::string& name) {
    if (name == "cuda") return make_cuda_backend();
    if (name.empty())
        if (auto cuda = find_cuda_backend()) return cuda;
    if (name.empty() || name == "host") return std::make_unique<HostBackend>();
    throw InputError("--backend", fmt::format("unknown backend \"{}\"", name), "write cuda or host");
}

}  // namespace wirewise
