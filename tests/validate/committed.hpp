// The committed cases, validated once for all tests.
#pragma once

#include <string>
#include <vector>

#include "tools/validate/summary.hpp"
#include "tools/validate/validation.hpp"

namespace wirewise::test {

std::vector<std::string> committed_files();  // measured here, and re-typed from published sources
const Validation& committed_validation();

}  // namespace wirewise::test
