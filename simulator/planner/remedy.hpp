// What would make a plan fit: single changes of one option, each planned for real.
#pragma once

#include "simulator/planner/question.hpp"

namespace wirewise {

// Changes that lower the peak, those that fit first, then the fastest. At most six.
std::vector<Remedy> remedies_for(const Question& question, const PlanCandidate& candidate, const Site& site);

}  // namespace wirewise
