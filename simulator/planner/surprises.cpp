#include "simulator/planner/surprises.hpp"

#include <fmt/format.h>

#include "model/units/text.hpp"
#include "simulator/planner/peak_difference.hpp"

namespace wirewise {

namespace {

int shards(Strategy strategy) {
    const Sharding sharding = sharding_of(strategy);
    return sharding.optimizer + sharding.gradients + sharding.parameters + sharding.reshard_after_forward;
}

// Against the nearest relative that shards less.
void more_memory(const PlanCandidate& candidate, const Answer& answer, std::vector<std::string>& to) {
    const PlanCandidate* relative = nullptr;
    for (const PlanCandidate& other : answer.candidates)
        if (other.gpus.size() == candidate.gpus.size() &&
            shards(other.plan.strategy) < shards(candidate.plan.strategy) &&
            (!relative || shards(other.plan.strategy) > shards(relative->plan.strategy)))
            relative = &other;
    if (!relative || candidate.estimate.device_used() <= relative->estimate.device_used()) return;
    to.push_back(fmt::format("{} needs {} more than {}: {}", name_of(candidate.plan.strategy),
                             to_text(candidate.estimate.device_used() - relative->estimate.device_used()),
                             name_of(relative->plan.strategy),
                             why_more(candidate.estimate, relative->estimate, "what it shards")));
}

std::string time_lost(const Estimate& estimate) {
    const TimelineSummary& time = estimate.time;
    std::string text = fmt::format("of a step of {:.0f} ms, {:.0f} ms are communication that nothing hides",
                                   time.step.value() * 1e3, time.exposed_communication.value() * 1e3);
    if (!estimate.collectives.empty()) {
        const CollectiveUse& use = estimate.collectives.front();
        text += fmt::format(" ({} over {} at {})", name_of(use.kind), use.link, to_text(use.busbw));
    }
    if (time.host_bound)
        text += fmt::format(", and the host needs {:.0f} ms to issue it, hooks included",
                            time.host_busy.value() * 1e3);
    return text;
}

void slower_than_one(const PlanCandidate& candidate, const Answer& answer, std::vector<std::string>& to) {
    if (candidate.gpus.size() < 2 || candidate.throughput.speedup_over_single >= 1) return;
    const std::string_view name = name_of(candidate.plan.strategy);
    to.push_back(fmt::format("{} on {} GPUs is slower than one GPU ({:.0f} against {:.0f} tokens/s): {}{}",
                             name, candidate.gpus.size(), candidate.throughput.tokens_per_second,
                             answer.single.tokens_per_second, time_lost(candidate.estimate),
                             answer.single.fits == Fit::no ? "; but one GPU does not hold it" : ""));
}

}  // namespace

std::vector<std::string> surprises_of(const Answer& answer) {
    std::vector<std::string> surprises;
    for (const PlanCandidate& candidate : answer.candidates) {
        more_memory(candidate, answer, surprises);
        surprises.insert(surprises.end(), candidate.odd.begin(), candidate.odd.end());
        slower_than_one(candidate, answer, surprises);
    }
    return surprises;
}

}  // namespace wirewise
