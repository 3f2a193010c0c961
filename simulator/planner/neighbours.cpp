#include "simulator/planner/neighbours.hpp"

#include <fmt/format.h>

#include "model/units/text.hpp"
#include "simulator/planner/candidate.hpp"
#include "simulator/planner/peak_difference.hpp"

namespace wirewise {

namespace {

constexpr double kNoticed = 0.001;  // of the smaller plan's memory

struct Neighbour {
    std::string name;   // "on 4 GPUs"
    std::string saved;  // what the candidate should save against it
    Estimate estimate;
};

std::optional<Neighbour> on_half_the_gpus(const Question& question, const PlanCandidate& candidate) {
    const Strategy strategy = candidate.plan.strategy;
    const int half = candidate.plan.mesh.world() / 2;
    const bool divides = candidate.plan.mesh.world() % 2 == 0 && half >= 2;
    const bool groups =
        strategy != Strategy::hsdp || (half > question.shard_group && half % question.shard_group == 0);
    if (!divides || !groups || !sharding_of(strategy).optimizer) return std::nullopt;
    if (question.global_batch && *question.global_batch % (half * candidate.plan.micro_batch) != 0)
        return std::nullopt;
    const Site site = site_of(question, {candidate.gpus.begin(), candidate.gpus.begin() + half});
    return Neighbour{fmt::format("on {} GPUs", half), "what more GPUs share",
                     estimate_memory(question.model, plan_for(question, strategy, half), site)};
}

Neighbour with_twice_the_micro_batch(const Question& question, const PlanCandidate& candidate) {
    ParallelPlan plan = candidate.plan;
    plan.micro_batch *= 2;
    if (plan.gradient_accumulation % 2 == 0) plan.gradient_accumulation /= 2;
    return {fmt::format("with micro-batch {}", plan.micro_batch), "what fewer tokens save",
            estimate_memory(question.model, plan, site_of(question, candidate.gpus))};
}

void tell(const PlanCandidate& candidate, const Neighbour& neighbour, std::vector<std::string>& to) {
    const Bytes own = candidate.estimate.device_used(), other = neighbour.estimate.device_used();
    if (own - other <= Bytes(static_cast<std::int64_t>(kNoticed * static_cast<double>(other.count()))))
        return;
    to.push_back(fmt::format("{} needs {} more than {}: {}", name_of(candidate.plan.strategy),
                             to_text(own - other), neighbour.name,
                             why_more(candidate.estimate, neighbour.estimate, neighbour.saved)));
}

}  // namespace

std::vector<std::string> odd_against_neighbours(const Question& question, const PlanCandidate& candidate) {
    std::vector<std::string> odd;
    if (candidate.plan.runtime == Runtime::native) return odd;
    if (const auto half = on_half_the_gpus(question, candidate)) tell(candidate, *half, odd);
    tell(candidate, with_twice_the_micro_batch(question, candidate), odd);
    return odd;
}

}  // namespace wirewise
