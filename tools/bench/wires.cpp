#include "tools/bench/wires.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "model/collectives/pricer.hpp"
#include "model/collectives/samples.hpp"
#include "model/topology/live.hpp"
#include "tools/inputs/machine.hpp"
#include "tools/render/progress.hpp"
#include "tools/run/job_environment.hpp"

namespace wirewise {

namespace {

constexpr const char* kDeciding[] = {"NCCL_P2P_DISABLE",   "NCCL_SHM_DISABLE",  "NCCL_P2P_LEVEL",
                                     "NCCL_NVLS_ENABLE",   "NCCL_ALGO",         "NCCL_PROTO",
                                     "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS"};

Json deciding_variables() {
    Json set = Json::object();
    for (const char* const name : kDeciding)
        if (const char* const value = std::getenv(name)) set[name] = value;
    return set;
}

// The labels of measured cases; none where samples speak for no wire.
std::string label_of(const WireName& wire) {
    if (wire.transport.empty()) return {};
    if (wire.transport == "shm") return "host_memory";
    if (wire.transport == "net") return "tcp_socket";
    return wire.path.starts_with("NV") ? "nvlink" : "pcie";
}

WireOrigin origin_of(const Machine& machine, const std::vector<int>& gpus) {
    const WireName wire = sampled_wire(machine, nccl_environment_here(), gpus).value_or(WireName{});
    return {label_of(wire), wire.gpu, wire.transport, wire.path, wire.in_switch, gpus, deciding_variables()};
}

}  // namespace

Machine machine_here() {
    std::vector<std::string> warnings;
    return machine_of(import_live(), "this machine", warnings);
}

const std::vector<WireChoice>& wire_choices() {
    static const std::vector<WireChoice> choices{
        {"p2p", {}}, {"shm", {"NCCL_P2P_DISABLE=1"}}, {"net", {"NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1"}}};
    return choices;
}

Json measure_wires(DeviceModule& module, Rendezvous& ranks, const BenchOrigin& origin, bool quiet) {
    Progress progress("bench", quiet || ranks.rank() > 0);
    std::size_t done = 0;
    const DeviceRank who{.rank = ranks.rank(), .device = ranks.local_rank(), .rendezvous = &ranks};
    const WireCosts costs =
        module.measure_wires(who, [&](const std::string& next) { progress.step(done++, 0, next); });
    Json rows = Json::array();
    if (ranks.rank() > 0) return rows;
    const Machine here = machine_here();
    const auto wire_of = [&](int count) { return origin_of(here, gpus_of_job(here, count)); };
    rows.push_back(communicator_row(costs.communicator, wire_of(ranks.world()), origin));
    for (const CollectiveTiming& timing : costs.collectives)
        rows.push_back(collective_row(timing, wire_of(timing.ranks), origin));
    for (const ContentionTiming& timing : costs.contention)
        if (const auto row = contention_row(timing, wire_of(timing.collective.ranks), origin))
            rows.push_back(*row);
    return rows;
}

}  // namespace wirewise
