// The rotation speed of each pair of a head's dimensions.
#pragma once

#include <vector>

#include "model/transformer/transformer.hpp"

namespace wirewise {

// rotary_dim / 2 frequencies, radians per position. Throws InputError for a scaling that is not computed.
std::vector<float> rope_frequencies(const Transformer& model, std::int64_t rotary_dim);

}  // namespace wirewise
