// A look at every op before a rank runs it: how tests make a rank fail at a chosen place.
#pragma once

#include <functional>

#include "model/program/program.hpp"

namespace wirewise {

// Called on the rank's thread. What it throws fails the rank.
using BeforeOp = std::function<void(int rank, const Op& op)>;

}  // namespace wirewise
