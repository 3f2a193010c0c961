// All ranks do the same run, or none does: compared before the first collective.
#pragma once

#include <string>
#include <vector>

#include "executor/training/rendezvous.hpp"

namespace wirewise {

struct Fact {
    std::string name, value;  // both on one line
};

// Every rank gives the same facts in the same order; returns once all have been compared with rank 0's.
// Throws InputError, on the rank that differs, naming the fact and both values.
void agree(Rendezvous& ranks, const std::vector<Fact>& facts);

}  // namespace wirewise
