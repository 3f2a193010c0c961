// The other end of the loop: what a run measured, joined op by op with what was predicted, improves a
// profile.
#pragma once

#include "tools/render/report.hpp"
#include "tools/run/backend.hpp"

namespace wirewise {

// Fits the profile that `prediction` rests on to what each rank measured of a step, writes it to `file`
// unless it got worse, and adds to the report what was wrong, by how much, and what the next prediction is.
void add_calibration(const std::string& file, const std::vector<Timeline>& ranks, const RunInputs& inputs,
                     const Prediction& prediction, Report& report);

}  // namespace wirewise
