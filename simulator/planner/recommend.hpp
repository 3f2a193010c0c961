// Chooses among judged candidates, and says why in plain words.
#pragma once

#include <span>

#include "simulator/planner/question.hpp"

namespace wirewise {

struct Recommendation {
    std::optional<std::size_t> index;
    std::string why;
};

// The fastest that fits at the pessimistic end of its interval; among those whose time intervals overlap the
// fastest's, the one with the least memory. Speed is tokens per second, so that plans of different batches
// compare.
Recommendation recommend(std::span<const PlanCandidate> candidates);

}  // namespace wirewise
