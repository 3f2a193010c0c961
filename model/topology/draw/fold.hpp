// A rack is drawn in rows, not as one strip.
#pragma once

#include "model/topology/draw/layout.hpp"

namespace wirewise::draw {

// Breaks a layout of more than sixteen GPUs between NUMA nodes into rows; a switch, an island and the links
// between NUMA nodes then have a part in every row. Left as it is where NVLinks would run from row to row.
void fold(Layout& layout);

}  // namespace wirewise::draw
