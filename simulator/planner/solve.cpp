#include "simulator/planner/solve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/text.hpp"
#include "simulator/planner/candidate.hpp"

namespace wirewise {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 24;  // sequences or tokens: beyond any GPU of today

class Search {
  public:
    Search(const Question& question, Strategy strategy, SolveFor what, std::int64_t step)
        : question_(question),
          what_(what),
          step_(step),
          site_(site_of(question,
                        strategy == Strategy::single ? std::vector{question.gpus.front()} : question.gpus)),
          plan_(plan_for(question, strategy, site_.ranks())) {}

    ParallelPlan plan_at(std::int64_t units) const {
        ParallelPlan plan = plan_;
        (what_ == SolveFor::max_micro_batch ? plan.micro_batch : plan.sequence_length) = units * step_;
        if (divides_global_batch()) plan.gradient_accumulation = of_a_rank() / units;
        return plan;
    }

    bool fits(std::int64_t units) const {
        const ParallelPlan plan = plan_at(units);
        const Estimate estimate = estimate_memory(question_.model, plan, site_);
        return memory_intervals_of(estimate, plan, site_).memory.hi <= site_.memory_limit();
    }

    PlanCandidate judged(std::int64_t units) const { return judge(question_, plan_at(units), site_); }

    // A global batch leaves only micro-batches that divide it.
    bool divides_global_batch() const { return question_.global_batch && what_ == SolveFor::max_micro_batch; }
    std::int64_t of_a_rank() const { return *question_.global_batch / site_.ranks(); }

    // The next micro-batch after `units` that divides the global batch; 0: there is none.
    std::int64_t next_divisor(std::int64_t units) const {
        for (std::int64_t next = units + 1; next <= std::min(of_a_rank(), kMost); ++next)
            if (of_a_rank() % next == 0) return next;
        return 0;
    }

    std::int64_t most() const {
        const bool bounded =
            what_ == SolveFor::max_sequence && question_.model.position == PositionKind::learned;
        return std::max<std::int64_t>(1, (bounded ? question_.model.max_position : kMost) / step_);
    }

  private:
    const Question& question_;
    SolveFor what_;
    std::int64_t step_;
    Site site_;
    ParallelPlan plan_;
};

std::string limit_text(const PlanCandidate& next) {
    return fmt::format("memory: {} of {} at {}", to_text(next.intervals.memory.hi), to_text(next.limit),
                       next.estimate.peak.at);
}

}  // namespace

Solution solve(const Question& question, Strategy strategy, SolveFor what, std::int64_t step) {
    const Search search(question, strategy, what, step);
    Solution solution;
    if (!search.fits(1)) {
        solution.next_limit = limit_text(search.judged(1));
        return solution;
    }
    if (search.divides_global_batch()) {
        std::int64_t good = 1, next = search.next_divisor(1);
        while (next > 0 && search.fits(next)) good = next, next = search.next_divisor(next);
        solution.value = good;
        solution.candidate = search.judged(good);
        solution.next_limit = next > 0 ? limit_text(search.judged(next)) : "the global batch ends there";
        return solution;
    }
    std::int64_t good = 1, bad = 2;
    while (bad <= search.most() && search.fits(bad)) good = bad, bad *= 2;
    bad = std::min(bad, search.most() + 1);
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (search.fits(middle) ? good : bad) = middle;
    }
    solution.value = good * step;
    solution.candidate = search.judged(good);
    solution.next_limit =
        bad > search.most() ? "the model's positions end there" : limit_text(search.judged(bad));
    return solution;
}

}  // namespace wirewise
