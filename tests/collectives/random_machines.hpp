// Machines for properties: the built-in ones, those of the shared corpus where it is present, and random
// ones.
#pragma once

#include <rapidcheck.h>

#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise::test {

struct Subject {
    Machine machine;
    std::vector<int> gpus;  // two or more of them, in random order
};

Subject any_subject();

// Another numbering of the same GPUs: GPU i of the result is GPU order[i] of the machine.
Machine relabelled(Machine machine, const std::vector<int>& order);

// A number of the whole range from the first case on: RapidCheck would start with small ones.
int pick(int from, int to);

std::vector<int> shuffled(std::vector<int> values);

}  // namespace wirewise::test
