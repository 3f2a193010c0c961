#include "simulator/planner/remedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/units/error.hpp"
#include "simulator/planner/candidate.hpp"

namespace wirewise {

namespace {

constexpr std::size_t kMost = 6;

struct Change {
    std::string option;
    ParallelPlan plan;
    std::vector<int> gpus;  // empty: the same
};

template <class Edit>
void add(std::vector<Change>& changes, const ParallelPlan& plan, std::string option, Edit edit) {
    Change change{std::move(option), plan, {}};
    edit(change.plan);
    changes.push_back(std::move(change));
}

void less_activation(std::vector<Change>& changes, const ParallelPlan& plan, bool global_batch) {
    if (plan.recompute != Recompute::full)
        add(changes, plan, "--recompute full", [](ParallelPlan& to) { to.recompute = Recompute::full; });
    if (plan.recompute == Recompute::none && plan.runtime == Runtime::native)
        add(changes, plan, "--recompute pointwise",
            [](ParallelPlan& to) { to.recompute = Recompute::pointwise; });
    if (plan.micro_batch > 1 && plan.micro_batch % 2 == 0)  // a global batch sets the accumulation itself
        add(changes, plan,
            global_batch ? fmt::format("--micro-batch {}", plan.micro_batch / 2)
                         : fmt::format("--micro-batch {} --gradient-accumulation {}", plan.micro_batch / 2,
                                       plan.gradient_accumulation * 2),
            [](ParallelPlan& to) { to.micro_batch /= 2, to.gradient_accumulation *= 2; });
    if (plan.runtime == Runtime::native && (plan.loss_chunk == 0 || plan.loss_chunk > 512))
        add(changes, plan, "--loss-chunk 512", [](ParallelPlan& to) { to.loss_chunk = 512; });
}

void smaller_states(std::vector<Change>& changes, const ParallelPlan& plan) {
    const bool adam =
        plan.optimizer == OptimizerKind::adamw_fused || plan.optimizer == OptimizerKind::adamw_foreach;
    if (adam && plan.precision.optimizer_state == DType::fp32 && plan.precision.parameter != DType::fp32)
        add(changes, plan, "--optimizer-state-dtype bf16",
            [](ParallelPlan& to) { to.precision.optimizer_state = DType::bf16; });
    if (adam)
        add(changes, plan, "--optimizer adamw_8bit",
            [](ParallelPlan& to) { to.optimizer = OptimizerKind::adamw_8bit; });
    if (plan.precision.parameter == DType::fp32)
        add(changes, plan, "--parameter-dtype bf16", [](ParallelPlan& to) {
            to.precision.parameter = to.precision.gradient = to.precision.reduce = DType::bf16;
        });
}

// To the host what the runtime can put there, or back.
void offloaded(std::vector<Change>& changes, const ParallelPlan& plan) {
    const auto change = [&](const char* words, Offload offload) {
        if (plan.offload == offload) return;
        add(changes, plan, fmt::format("--offload {}", words),
            [&](ParallelPlan& to) { to.offload = offload; });
    };
    if (plan.offload.any()) change("none", {});
    if (plan.runtime == Runtime::deepspeed) change("optimizer", {.optimizer = true});
    if (plan.runtime != Runtime::native)
        change("optimizer,parameters", {.optimizer = true, .parameters = true});
}

int shards_how_much(Strategy strategy) {
    const Sharding sharding = sharding_of(strategy);
    return sharding.optimizer + sharding.gradients + sharding.parameters + sharding.reshard_after_forward;
}

// Strategies that shard more of the states; FSDP over all ranks for HSDP.
void more_sharding(std::vector<Change>& changes, const Question& question, const ParallelPlan& plan) {
    const int ranks = plan.mesh.world();
    if (ranks < 2) return;
    for (const Strategy strategy : {Strategy::zero1, Strategy::zero2, Strategy::fsdp}) {
        const bool wider = plan.strategy == Strategy::hsdp && strategy == Strategy::fsdp;
        if (!wider && shards_how_much(strategy) <= shards_how_much(plan.strategy)) continue;
        if (strategy == Strategy::zero2 && plan.runtime == Runtime::pytorch) continue;
        add(changes, plan, fmt::format("--strategy {}", name_of(strategy)), [&](ParallelPlan& to) {
            to.strategy = strategy, to.mesh = mesh_for(strategy, ranks, question.shard_group);
        });
    }
}

// All GPUs of the machine, for a plan that uses fewer.
void more_gpus(std::vector<Change>& changes, const Question& question, const PlanCandidate& candidate) {
    const int all = question.machine.gpu_count();
    const ParallelPlan& plan = candidate.plan;
    if (all <= plan.mesh.world() || question.machine.servers > 1 || plan.strategy == Strategy::ddp ||
        question.global_batch)
        return;
    const Strategy strategy =
        plan.strategy == Strategy::single || plan.strategy == Strategy::hsdp ? Strategy::fsdp : plan.strategy;
    Change change{
        fmt::format("{}--gpus {}",
                    strategy == plan.strategy ? "" : fmt::format("--strategy {} ", name_of(strategy)), all),
        plan, std::vector<int>(static_cast<std::size_t>(all))};
    std::iota(change.gpus.begin(), change.gpus.end(), 0);
    change.plan.strategy = strategy;
    change.plan.mesh = mesh_for(strategy, all, question.shard_group);
    changes.push_back(std::move(change));
}

std::optional<Remedy> tried(const Question& question, const Change& change, const Site& site) try {
    const Site other = site_of(question, change.gpus.empty() ? site.gpus() : change.gpus);
    const Estimate result = estimate(question.model, change.plan, change.gpus.empty() ? site : other);
    const Intervals intervals = intervals_of(result, question.profile);
    return Remedy{change.option, result.device_used(), result.time.step,
                  fit_of(result, site.memory_limit(), intervals.memory), result.host.peak};
} catch (const InputError&) {  // this runtime has no such option: no remedy
    return std::nullopt;
}

// Less where it does not fit: on the host, or on the device.
bool helps(const Remedy& remedy, const PlanCandidate& candidate) {
    const HostMemory& host = candidate.estimate.host;
    if (fit_of(host) == Fit::no) return remedy.host_peak < host.peak;
    return remedy.peak < candidate.estimate.device_used();
}

}  // namespace

std::vector<Remedy> remedies_for(const Question& question, const PlanCandidate& candidate, const Site& site) {
    std::vector<Change> changes;
    less_activation(changes, candidate.plan, question.global_batch.has_value());
    smaller_states(changes, candidate.plan);
    more_sharding(changes, question, candidate.plan);
    more_gpus(changes, question, candidate);
    offloaded(changes, candidate.plan);
    std::vector<Remedy> remedies;
    for (const Change& change : changes)
        if (const auto remedy = tried(question, change, site); remedy && helps(*remedy, candidate))
            remedies.push_back(*remedy);
    std::stable_sort(remedies.begin(), remedies.end(), [](const Remedy& a, const Remedy& b) {
        if (a.fits != b.fits) return a.fits < b.fits;
        return a.fits == Fit::no ? a.peak < b.peak : a.step < b.step;
    });
    if (!remedies.empty() &&
        remedies.front().fits == Fit::yes)  // where some change suffices, the others only distract
        std::erase_if(remedies, [](const Remedy& remedy) { return remedy.fits == Fit::no; });
    if (remedies.size() > kMost) remedies.resize(kMost);
    return remedies;
}

}  // namespace wirewise
