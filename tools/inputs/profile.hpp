// What was measured before: the cost profile of a question's GPU, and collectives measured on its very wires.
#pragma once

#include <string>
#include <vector>

#include "model/collectives/samples.hpp"
#include "model/cost/cost_profile.hpp"
#include "model/topology/machine.hpp"

namespace wirewise {

// A file, "data-sheet", the name of a shipped profile; empty: the one shipped for the machine's GPU, else its
// data sheet. Warns when it is another GPU's.
CostProfile profile_of(const std::string& named, const Machine& machine, std::vector<std::string>& warnings);

// All measured collectives that are shipped, and those of the named file in their place; none with --profile
// data-sheet.
CollectiveSamples samples_of(const std::string& named);

}  // namespace wirewise
