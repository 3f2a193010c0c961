// Judges one strategy: its estimate, intervals, rows, throughput and whether it fits.
#pragma once

#include "simulator/planner/question.hpp"

namespace wirewise {

// The plan of a strategy for this many ranks: mesh, accumulation from the global batch. Throws InputError
// when it cannot be.
ParallelPlan plan_for(const Question& question, Strategy strategy, int ranks);

// The question's machine with these GPUs; the question must outlive it.
Site site_of(const Question& question, std::vector<int> gpus);

PlanCandidate judge(const Question& question, const ParallelPlan& plan, const Site& site);

// What surely fits, with all that the allocator caches; what fits at its least (Estimate::least_used).
Fit fit_of(Bytes limit, Bytes least, const Interval<Bytes>& interval);

// Pinned blocks round up and the processes need memory of their own: what comes within a tenth of the limit
// is tight. An unknown limit is no limit.
Fit fit_of(const HostMemory& host);
// On the device and on the host.
Fit fit_of(const Estimate& estimate, Bytes limit, const Interval<Bytes>& interval);

// Tokens a second of all ranks together.
double tokens_per_second(const ParallelPlan& plan, Seconds step);

}  // namespace wirewise
