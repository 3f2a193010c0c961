// Builds a Machine piece by piece; importers and the JSON reader speak only to this.
#pragma once

#include "model/topology/machine.hpp"

namespace wirewise {

// Rates are set from the GPU's catalogue row, the PCIe generation and the CPU kind; a rate said by hand (the
// optional last argument) sets plan and wire alike. GPUs and NICs are numbered in the order they are added.
class MachineBuilder {
  public:
    explicit MachineBuilder(std::string name, CpuKind cpu = CpuKind::unknown);

    NodeId gpu(const GpuModel* model, std::string busid = {}, int numa = -1, std::string affinity = {});
    NodeId nvswitch();
    NodeId pcie_switch(std::string name = {});
    NodeId numa(std::string name = {});  // "NUMA 0" unless named
    NodeId host_bridge(NodeId numa);     // joined to it at once
    NodeId nic(std::string name, BytesPerSecond line_rate);

    // `count` NVLinks (xGMI links between AMD GPUs) between GPUs or GPU and NVSwitch, both directions.
    void nvlink(NodeId a, NodeId b, int count, std::optional<BytesPerSecond> rate = {});
    void pcie(NodeId a, NodeId b, int generation, int width = 16, std::optional<BytesPerSecond> rate = {});
    void c2c(NodeId gpu, NodeId numa, std::optional<BytesPerSecond> rate = {});
    void socket(NodeId numa_a, NodeId numa_b, std::optional<BytesPerSecond> rate = {});

    Machine& machine() { return machine_; }  // for description, source, host memory, flags

    // Joins every two NUMA nodes that have no socket link yet (as NCCL does) and sets memory rates.
    Machine build();

  private:
    NodeId add(NodeKind kind, std::string name);
    void join_both_ways(NodeId a, NodeId b, const MachineLink& link);

    Machine machine_;
};

}  // namespace wirewise
