// The wires as a group of GPUs of one server may use them: for every ordered pair one hop (transport, path,
// the links it loads), under the permissions of the machine and of the NCCL environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/collectives/nccl_environment.hpp"
#include "model/topology/machine.hpp"

namespace wirewise {

enum class Transport : std::uint8_t { p2p, shm, net };
std::string_view name_of(Transport transport);

// NCCL's path types in its order (graph.h), the ones that occur between GPUs. relayed: NVB, NVLink through
// one other GPU of the group. NCCL knows no NODE: it counts as phb.
enum class HopType : std::uint8_t { nvlink, relayed, pix, pxb, phb, sys, none };

// Bytes put on a link by one byte of the hop, as NCCL plans it and as it is.
struct LinkUse {
    int link = 0;
    double plan_cost = 1, wire_cost = 1;
};

struct Hop {
    HopType type = HopType::none;
    Transport transport = Transport::p2p;
    std::vector<LinkUse> uses;
    int staged_from = 0;   // shm: uses[staged_from..] carry the bytes down from host memory
    double plan_rate = 0;  // alone on the path, bytes per second
};

struct Wire {
    double plan = 0, wire = 0;  // bytes per second, one way
    LinkId link{};
};

// The wire that sets a rate (bytes per second).
struct Narrowest {
    double rate = 0;
    int wire = -1;
};

// Wires are numbered alike for every group of one server: links by id, then the memory of each node,
// then the TCP stack under each GPU's process.
class GroupWires {
  public:
    GroupWires(const Machine& machine, const NcclEnvironment& environment, std::vector<int> local_gpus);

    int ranks() const { return static_cast<int>(gpus_.size()); }
    const std::vector<int>& gpus() const { return gpus_; }
    // The ways from one rank to another: one, but for relays one over every GPU that can be the relay.
    const std::vector<Hop>& ways(int from, int to) const {
        return ways_[static_cast<std::size_t>(from * ranks() + to)];
    }
    const Hop& hop(int from, int to) const { return ways(from, to).front(); }
    const std::vector<Wire>& wires() const { return wires_; }
    // Every pair over NVSwitch with bundles alike: any ring order is as good as any other.
    bool full_switch() const { return full_switch_; }
    // One NVLink of these GPUs as NCCL plans it, however wide their bundles are.
    double one_link() const { return one_link_; }

    // full_switch(): what a GPU can send into the switch, bytes per second at wire rate.
    Narrowest switch_port() const;
    bool is_socket_link(const Machine& machine, int wire) const;  // between NUMA nodes
    std::string describe(const Machine& machine, int wire) const;

  private:
    void add_islands(const Machine& machine);
    void add_relays();
    void add_host_hops(const Machine& machine, const NcclEnvironment& environment);
    void add_shared(const Machine& machine);
    int memory_wire(NodeId numa) const { return first_memory_ + static_cast<int>(numa); }
    Hop& at(int from, int to) { return ways_[static_cast<std::size_t>(from * ranks() + to)].front(); }
    Hop peer_hop(const Machine& machine, PathClass path, const std::vector<LinkId>& route) const;
    Hop relayed(int from, int middle, int to);
    double plan_rate_of(const Hop& hop) const;

    std::vector<int> gpus_;
    std::vector<std::vector<Hop>> ways_;  // by ordered pair, never empty
    std::vector<Wire> wires_;
    int first_memory_ = 0, first_tcp_ = 0;
    bool full_switch_ = false;
    double one_link_ = 0;
};

}  // namespace wirewise
