// Errors summed up by kind of sample.
#pragma once

#include "calibration/fit/calibrate.hpp"

namespace wirewise {

ErrorRow error_row(const std::string& kind, std::vector<double> errors);

std::vector<ErrorRow> errors_before(const std::vector<Observation>& samples, const ProfileFit& fit);
// Left out as a member of each of its groups in turn; where a sample has none, by the fit itself.
std::vector<ErrorRow> errors_left_out(const std::vector<Observation>& samples, const ProfileFit& fit);
std::vector<ErrorRow> errors_fitted(const std::vector<Observation>& samples, const ProfileFit& fit);

// By how much more the left-out errors are than those before, with the standard error of that difference.
struct Growth {
    double mean = 0, error = 0;
};
Growth growth_of(const std::vector<Observation>& samples, const ProfileFit& fit, bool steps);
bool is_step(const Observation& sample);

}  // namespace wirewise
