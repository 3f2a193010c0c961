// A matrix that went through a spreadsheet or a script: cells between commas or semicolons, in quotes, in
// small letters. Its lines become what nvidia-smi prints; others stay.
#pragma once

#include <string>
#include <vector>

#include "model/topology/smi/clean.hpp"

namespace wirewise::smi {

void undo_spreadsheet(std::vector<std::string>& lines, Repairs& repairs);

}  // namespace wirewise::smi
