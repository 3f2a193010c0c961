// Files of samples as what calibration fits: each training step becomes a question to the planner, exactly as
// `plan` would ask it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibration/cases/read_cases.hpp"
#include "calibration/fit/calibrate.hpp"
#include "model/topology/gpu.hpp"

namespace wirewise {

// The GPU that all samples were taken on. Throws InputError when they name several, or none.
const GpuModel& gpu_of_samples(const std::vector<MeasuredCase>& cases);

// The first of the cases that say the same thing of the same run (one file copied from another).
std::vector<MeasuredCase> without_copies(std::vector<MeasuredCase> cases);

// `known`: collectives measured before. Samples that cannot be predicted are named in `warnings`.
CalibrationSamples gather(const std::vector<MeasuredCase>& cases, const CostProfile& profile,
                          const CollectiveSamples& known, std::vector<std::string>& warnings,
                          const std::function<void(std::size_t, std::size_t, const std::string&)>& progress);

}  // namespace wirewise
