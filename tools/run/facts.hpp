// What all ranks of a run must have alike.
#pragma once

#include <vector>

#include "executor/ranks/agreement.hpp"
#include "tools/run/backend.hpp"

namespace wirewise {

std::vector<Fact> facts_of(const RunInputs& inputs, const Backend& backend, const WeightSource& weights,
                           const std::vector<UnitTensor>& tensors);

}  // namespace wirewise
