#include "model/collectives/permission.hpp"

namespace wirewise {
namespace {

PathClass farthest_peer(const Machine& machine, const NcclEnvironment& environment) {
    if (environment.p2p_level) return *environment.p2p_level;
    const bool small_amd = machine.cpu == CpuKind::amd_epyc && machine.gpus_per_server() <= 2;
    return small_amd ? PathClass::sys : PathClass::pxb;
}

// CUDA refuses peers over PCIe on GeForce and on some hosts; NVLink always works.
bool driver_allows_pcie_peers(const Machine& machine, int gpu_a, int gpu_b) {
    if (machine.pcie_peer_to_peer) return *machine.pcie_peer_to_peer;
    const auto allows = [&](int gpu) {
        const GpuModel* model = machine.gpu(gpu).model;
        return model == nullptr || model->pcie_peer_to_peer;
    };
    return allows(gpu_a) && allows(gpu_b);
}

}  // namespace

Transport transport_between(const Machine& machine, const NcclEnvironment& environment, int gpu_a, int gpu_b,
                            PathClass path) {
    const bool over_nvlink = path == PathClass::nvlink;
    // NCCL has no NODE class: it ranks with PHB.
    const PathClass ranked = path == PathClass::node ? PathClass::phb : path;
    const bool near = ranked <= farthest_peer(machine, environment);
    const bool allowed = over_nvlink || driver_allows_pcie_peers(machine, gpu_a, gpu_b);
    if (near && allowed && !environment.p2p_disable) return Transport::p2p;
    return environment.shm_disable ? Transport::net : Transport::shm;
}

}  // namespace wirewise
