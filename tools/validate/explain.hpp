// One case's error, attributed to terms: the predicted parts of its step and of its memory beside what was
// measured.
#pragma once

#include <string>

#include "calibration/cases/case.hpp"
#include "tools/render/report.hpp"

namespace wirewise {

// `profiled`: a file of profiled steps, or empty.
Report explain(const MeasuredCase& one, const std::string& profile, const std::string& profiled);

}  // namespace wirewise
