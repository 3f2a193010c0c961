// The other end of the loop: what a run measured, joined op by op with what was predicted, improves a
// profile.
#pragma once

#include "tools/render/report.hpp"
#include "tools/run/backend.hpp"

namespace wirewise {

// Fits the profile that `prediction` rests on to the last step, as each rank measured it, writes it to `file`
// unless it got worse, and adds to the report what was wrong, by how much, and what the next prediction is.
void add_calibration(const std::string& file, const std::vector<Timeline>& measured, const RunInputs& inputs,
                     const Prediction& prediction, Report& report);

}  // namespace wirewise
