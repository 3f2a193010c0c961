// The part of `bench` that takes several GPUs: collectives over each wire that NCCL can be made to use.
#pragma once

#include <string>
#include <vector>

#include "executor/training/device_module.hpp"
#include "executor/training/rendezvous.hpp"
#include "model/topology/machine.hpp"
#include "tools/bench/bench_samples.hpp"

namespace wirewise {

// NCCL's variables that keep a job off faster wires, one choice after the other: peer-to-peer, host memory,
// sockets. Nothing: as the environment says.
struct WireChoice {
    std::string name;
    std::vector<std::string> variables;  // K=V
};
const std::vector<WireChoice>& wire_choices();

// As its driver shows it. Throws InputError.
Machine machine_here();

// One rank's part; the rows are rank 0's.
Json measure_wires(DeviceModule& module, Rendezvous& ranks, const BenchOrigin& origin, bool quiet);

}  // namespace wirewise
