#include "simulator/planner/surprises.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/text.hpp"

namespace wirewise {

namespace {

struct Row {
    std::string_view name;
    double more = 0;  // bytes
};

std::vector<Row> rows_more(const Estimate& a, const Estimate& b) {
    std::vector<Row> rows;
    for (std::size_t role = 0; role < kRoleCount; ++role)
        rows.push_back({name_of(static_cast<Role>(role)),
                        static_cast<double>((a.peak.breakdown[role] - b.peak.breakdown[role]).count())});
    const auto loose = [](const Estimate& of) {
        return static_cast<double>((of.reserved - of.peak.allocated).count());
    };
    rows.push_back({"fragmentation", loose(a) - loose(b)});
    return rows;
}

std::string signed_rows(std::vector<Row> rows, bool gains) {
    std::erase_if(rows, [&](const Row& row) { return gains ? row.more <= 1e8 : row.more >= -1e8; });
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return std::abs(a.more) > std::abs(b.more); });
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 3); ++i)
        text += fmt::format("{}{} {}{:.1f} GB", i ? ", " : "", rows[i].name, gains ? "+" : "",
                            rows[i].more / 1e9);
    return text.empty() ? "nothing" : text;
}

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
    const std::vector<Row> rows = rows_more(candidate.estimate, relative->estimate);
    to.push_back(fmt::format("{} needs {} more than {}: at its peak ({}) {} outweigh what it shards ({})",
                             name_of(candidate.plan.strategy),
                             to_text(candidate.estimate.device_used() - relative->estimate.device_used()),
                             name_of(relative->plan.strategy), candidate.estimate.peak.at,
                             signed_rows(rows, true), signed_rows(rows, false)));
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
        slower_than_one(candidate, answer, surprises);
    }
    return surprises;
}

}  // namespace wirewise
