// The algorithms and protocols NCCL may choose among for one group, each as a formula of the bytes.
#pragma once

#include <string>
#include <vector>

#include "model/collectives/group_rates.hpp"
#include "model/collectives/tuning.hpp"

namespace wirewise {

struct Candidate {
    Algorithm algorithm = Algorithm::ring;
    Protocol protocol = Protocol::simple;
    double latency = 0;           // seconds
    double seconds_per_byte = 0;  // of S; trees: before their correction
    double last_receive = 0;      // seconds per byte that the end of the ring adds
    int channels = 0;
    double ramp = 0;              // seconds x (1 - exp(-S / kRampBytes))
    double fill = 0;              // NVLS: channels x heads
    double small_chunk_cost = 0;  // NVLS: share lost at half the full chunk
    std::string link;             // the bottleneck
    bool soft = false;

    double seconds_of(double bytes) const;

  private:
    double pipelined_seconds(double bytes) const;  // latency and traffic alone
};

std::vector<Candidate> candidates_for(CollectiveKind kind, const GroupRates& rates,
                                      const NcclEnvironment& environment);

}  // namespace wirewise
