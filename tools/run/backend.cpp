#include "tools/run/backend.hpp"

#include <fmt/format.h>

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

class HostBackend final : public Backend {
  public:
    std::string_view name() const override { return "host"; }

    Prediction predict(const RunInputs& inputs) override {
        const HostSamples samples = bench_host(inputs.model, inputs.plan, inputs.numbers);
        const CostProfile profile = host_profile(samples);
        const CollectiveCost wires = [&](Axis axis, CollectiveKind kind, Bytes bytes) {
            return host_collective_price(samples, axis, kind, bytes);
        };
        const StepProgram load = lower(inputs.model, inputs.plan, Phase::load);
        const StepProgram step = lower(inputs.model, inputs.plan, Phase::steady_step);
        const StepProgram* const programs[] = {&load, &step};
        const Bytes planned = plan_memory(programs).bytes;
        Prediction prediction{.program = as_run_on_host(step)};
        prediction.timeline = simulate(prediction.program, profile, wires, profile.runtime("native"));
        prediction.memory = {planned, planned, planned + host_scratch(step)};
        const Origin& origin = profile.origins.at("gemm");
        prediction.origin = fmt::format("{}, {} kernels, mean residual {:.0f} %", origin.source,
                                        origin.samples, 100 * origin.residual);
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
