#include "calibration/collective_site.hpp"

#include <fmt/format.h>

#include "model/topology/edit.hpp"
#include "model/topology/fabric.hpp"
#include "model/topology/import.hpp"
#include "model/topology/machine_json.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

Machine machine_of(const PublishedCollective& run) {
    ImportHints hints;
    if (!run.gpu.empty()) hints.gpu = &gpu_model(run.gpu);
    std::vector<std::string> notes;
    Machine machine = run.machine.starts_with('{') ? machine_from_json_text(run.machine, run.id)
                                                   : load_machine(run.machine, hints, notes);
    if (run.pcie_peers) machine.pcie_peer_to_peer = true;
    if (run.fabric_nics) machine.nics.clear();
    return run.nodes > 1 ? join(std::move(machine), run.nodes, fabric_named(run.fabric)) : machine;
}

}  // namespace

CollectiveSite site_of(const PublishedCollective& run) {
    CollectiveSite site{machine_of(run), {}, {}};
    for (const std::string& assignment : run.nccl_env) site.environment.set(assignment, "nccl_env");
    const int on_each = site.machine.gpus_per_server();
    for (int node = 0; node < run.nodes; ++node)
        for (const int gpu : run.gpus) {
            if (gpu >= on_each)
                throw InputError("gpus", fmt::format("there is no GPU {} on {}", gpu, site.machine.name),
                                 "name fewer");
            site.gpus.push_back(node * on_each + gpu);
        }
    return site;
}

}  // namespace wirewise
