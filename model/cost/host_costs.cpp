#include "model/cost/host_costs.hpp"

#include <algorithm>

namespace wirewise {

namespace {

// Of the memory rate, what an optimizer on the CPU reaches: Llama 3.1 405B on 8 servers of 8 H100 updates in
// about 4 s (LambdaLabsML/distributed-training-guide, 05-training-llama-405b, read 2026-11): 50.7e9
// parameters of a server x 14 B (bf16 parameter, gradient and two moments read, three of them written) in 4 s
// is 177 of 490 GB/s. One sample.
constexpr double kHostUpdateShare = 0.36;

}  // namespace

CostProfile in_machine(CostProfile profile, const HostShare& share) {
    if (share.link.value() > 0) {
        profile.copy.device_to_host = std::min(profile.copy.device_to_host, share.link);
        profile.copy.host_to_device = std::min(profile.copy.host_to_device, share.link);
    }
    if (share.memory_rate.value() > 0) profile.host.memory_rate = kHostUpdateShare * share.memory_rate;
    return profile;
}

}  // namespace wirewise
