// JSON records as CSV: nested keys become dotted columns, so names and units are those of the JSON document.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace wirewise {

// `records` names an array of objects in the document; empty: the document itself is the only record.
std::string csv_of(const nlohmann::ordered_json& document, const std::string& records);

}  // namespace wirewise
