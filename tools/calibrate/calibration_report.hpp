#pragma once

#include "calibration/fit/calibrate.hpp"
#include "tools/render/report.hpp"

namespace wirewise {

Report calibration_report(const Calibration& calibration, const std::string& base);

}  // namespace wirewise
