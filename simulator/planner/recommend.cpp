#include "simulator/planner/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/text.hpp"
#include "simulator/planner/candidate.hpp"

namespace wirewise {

namespace {

constexpr double kClearly = 1.1;  // in words: what more is not "about"

double slowest(const PlanCandidate& candidate) {
    return tokens_per_second(candidate.plan, candidate.intervals.step.hi);
}
double fastest(const PlanCandidate& candidate) {
    return tokens_per_second(candidate.plan, candidate.intervals.step.lo);
}
Bytes peak(const PlanCandidate& candidate) { return candidate.estimate.device_used(); }
std::string_view name(const PlanCandidate& candidate) { return name_of(candidate.plan.strategy); }

std::string nothing_fits(std::span<const PlanCandidate> candidates) {
    const auto least = std::min_element(candidates.begin(), candidates.end(),
                                        [](const auto& a, const auto& b) { return peak(a) < peak(b); });
    if (least->fits == Fit::tight)
        return fmt::format("nothing fits surely: {} needs {} of {}, but up to {} {}", name(*least),
                           to_text(least->estimate.least_used()), to_text(least->limit),
                           to_text(least->intervals.memory.hi),
                           least->estimate.spare > Bytes(0) ? "with what its allocator caches"
                                                            : "at the end of its interval");
    return fmt::format("nothing fits: the smallest, {}, needs {} and a GPU has {}", name(*least),
                       to_text(peak(*least)), to_text(least->limit));
}

std::string reason(std::span<const PlanCandidate> candidates, const PlanCandidate& chosen,
                   const PlanCandidate& best) {
    std::string why = fmt::format("{} fits ({} of {}, at most {})", name(chosen), to_text(peak(chosen)),
                                  to_text(chosen.limit), to_text(chosen.intervals.memory.hi));
    if (&chosen == &best)
        why += fmt::format(" and is the fastest that does: {:.0f} tokens/s",
                           chosen.throughput.tokens_per_second);
    else
        why += fmt::format(
            "; {} is {} ({:.0f} against {:.0f} tokens/s, the intervals overlap) but needs {}", name(best),
            best.throughput.tokens_per_second > kClearly * chosen.throughput.tokens_per_second
                ? "probably faster"
                : "about as fast",
            best.throughput.tokens_per_second, chosen.throughput.tokens_per_second, to_text(peak(best)));
    for (const PlanCandidate& other : candidates)
        if (other.fits != Fit::yes)
            why += fmt::format("; {} {}: {}", name(other),
                               other.fits == Fit::no ? "does not fit" : "may not fit", to_text(peak(other)));
    return why;
}

}  // namespace

Recommendation recommend(std::span<const PlanCandidate> candidates) {
    const PlanCandidate* best = nullptr;
    for (const PlanCandidate& candidate : candidates)
        if (candidate.fits == Fit::yes &&
            (!best || candidate.throughput.tokens_per_second > best->throughput.tokens_per_second))
            best = &candidate;
    if (!best)
        return {std::nullopt, candidates.empty() ? "no strategy was asked for" : nothing_fits(candidates)};
    const PlanCandidate* chosen = best;
    for (const PlanCandidate& candidate : candidates)
        if (candidate.fits == Fit::yes && fastest(candidate) >= slowest(*best) &&
            peak(candidate) < peak(*chosen))
            chosen = &candidate;
    return {static_cast<std::size_t>(chosen - candidates.data()), reason(candidates, *chosen, *best)};
}

}  // namespace wirewise
