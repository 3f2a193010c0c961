// The JSON document of `plan`, key by key as the command line's contract names them.
#pragma once

#include "tools/inputs/inputs.hpp"

namespace wirewise {

Json plan_document(const Inputs& inputs, const Answer& answer);
Json candidate_json(const PlanCandidate& candidate, const Inputs& inputs);
Json memory_breakdown_json(const Estimate& estimate);  // rows that add up to the peak

}  // namespace wirewise
