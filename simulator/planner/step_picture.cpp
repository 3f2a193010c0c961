#include "simulator/planner/step_picture.hpp"

#include "model/strategy/lower.hpp"
#include "simulator/planner/estimate.hpp"
#include "simulator/planner/walk_phases.hpp"

namespace wirewise {

StepPicture picture_of_step(const Transformer& model, const ParallelPlan& whole, const Site& site) {
    const ParallelPlan plan = with_walked_micro_batches(whole);
    MemoryWalk walk = walk_for(plan.runtime);
    for (const Phase phase : {Phase::load, Phase::first_step}) walk.run(lower(model, plan, phase));
    StepPicture picture;
    picture.program = lower(model, plan, Phase::steady_step);
    walk.run(picture.program, {.allocated_by_op = &picture.allocated_by_op});
    picture.timeline = simulate_on(site, plan, picture.program);
    return picture;
}

std::vector<Bar> bars_of(const StepPicture& picture) {
    const StepProgram& program = picture.program;
    const auto same_part = [&](OpId a, OpId b) {
        const Op &one = program.ops[index_of(a)], &other = program.ops[index_of(b)];
        return one.section == other.section && one.name.layer == other.name.layer &&
               one.micro_batch == other.micro_batch;
    };
    std::vector<Bar> bars;
    std::vector<std::size_t> last(program.streams.size(), std::size_t(-1));  // by stream, into `bars`
    for (const Span& span : picture.timeline.spans) {
        std::size_t& at = last[index_of(span.stream)];
        if (at == std::size_t(-1) || !same_part(bars[at].first, span.op)) {
            at = bars.size();
            bars.push_back({span.stream, span.begin, span.end, span.op});
        }
        Bar& bar = bars[at];
        bar.end = std::max(bar.end, span.end);
        bar.busy = bar.busy + (span.end - span.begin);
        ++bar.ops;
    }
    return bars;
}

}  // namespace wirewise
