// A cost profile as JSON, both ways: calibration/profiles/*.json.
#pragma once

#include <string>

#include "model/cost/cost_profile.hpp"
#include "model/topology/json_view.hpp"

namespace wirewise {

// `place` names the file in messages. Throws InputError with its JSON pointer.
CostProfile profile_from_json(const Json& json, const std::string& place);

// profile_from_json(to_json(p)) is p again, to 6 digits.
Json to_json(const CostProfile& profile);

// The half widths of calibration/intervals: those of GPUs and runtimes that were not measured.
Widths data_sheet_widths();

}  // namespace wirewise
