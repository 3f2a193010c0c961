// `plan` for people: the ranking, the memory rows that add up, what limits, what would help.
#pragma once

#include "tools/inputs/inputs.hpp"

namespace wirewise {

Report plan_report(const Inputs& inputs, const Answer& answer);

}  // namespace wirewise
