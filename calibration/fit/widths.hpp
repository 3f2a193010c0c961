// Half widths of 90 % intervals as quantiles of residuals.
#pragma once

#include "calibration/fit/calibrate.hpp"

namespace wirewise {

// The smallest width that covers 90 % of such errors, a further one included: the ceil(0.9 (n + 1))-th
// smallest of n sizes (split conformal prediction); the largest where there are fewer than nine.
double width_covering(std::vector<double> errors);

// Writes /intervals of a profile's document: of step time from errors of fits that have not seen the step, of
// memory from errors of the walk. Kinds without samples keep what stands there.
void set_intervals(Json& profile, const CalibrationSamples& samples, const ProfileFit& fit);

}  // namespace wirewise
