// The readers of each kind of row.
#pragma once

#include <vector>

#include "calibration/cases/case.hpp"
#include "calibration/cases/json_lines.hpp"
#include "calibration/cases/read_cases.hpp"

namespace wirewise {

MeasuredCase training_step_case(const JsonLine& line, const CaseFolders& folders);
MeasuredCase collective_case(const JsonLine& line);
MeasuredCase contention_case(const JsonLine& line);
// One case, or two where forward and backward were measured together.
std::vector<MeasuredCase> kernel_cases(const JsonLine& line);
// A published training run; conventions/*.json say what its group's words mean.
MeasuredCase published_run(const JsonLine& line);
// The same, though it may state nothing that is predicted.
MeasuredCase described_run(const JsonLine& line);
// A case from a user's report.
MeasuredCase user_case(const JsonLine& line);
// A whole file of published collective runs.
std::vector<MeasuredCase> published_collective_cases(const std::string& file);

}  // namespace wirewise
