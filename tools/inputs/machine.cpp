#include "tools/inputs/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <set>

#include "model/topology/edit.hpp"
#include "model/topology/fabric.hpp"
#include "model/topology/import.hpp"
#include "model/units/error.hpp"
#include "tools/inputs/words.hpp"

namespace wirewise {

namespace {

constexpr int kMostNodes = 1 << 14;

Machine read_machine(const MachineOptions& options, std::vector<std::string>& warnings) {
    ImportHints hints;
    if (!options.gpu.empty()) hints.gpu = &gpu_named(options.gpu);
    if (options.machine.empty())
        throw InputError("--machine", "is missing", "give a built-in name or a file (wirewise topo --list)");
    if (options.machine != "-") return load_machine(options.machine, hints, warnings);
    const std::string text = read_topology(std::cin, "standard input");
    return machine_of(import_machine(text, hints), "standard input", warnings);
}

// --gpu says what the text leaves out; it changes no machine.
void require_same_gpu(const MachineOptions& options, const Machine& machine) {
    if (options.gpu.empty() || machine.gpus.empty() || !machine.gpus.front().model) return;
    const std::string& said = machine.gpus.front().model->name;
    if (said != gpu_named(options.gpu).name)
        throw InputError("--gpu", fmt::format("{} has GPUs of its own: {}", machine.name, said),
                         fmt::format("leave it out, or write --set-machine /gpu={}", options.gpu));
}

}  // namespace

Machine machine_of(const MachineOptions& options, std::vector<std::string>& warnings) {
    Machine machine = read_machine(options, warnings);
    require_same_gpu(options, machine);
    for (const std::string& edit : options.set_machine) machine = set_in_machine(machine, edit);
    for (const std::string& kind : options.without) machine = machine_without(machine, kind);
    if (options.nodes < 1 || options.nodes > kMostNodes)
        throw InputError("--nodes", fmt::format("{} is not a number of nodes", options.nodes),
                         fmt::format("write 1 to {}", kMostNodes));
    if (options.nodes == 1) return machine;
    if (options.fabric.empty()) {
        std::vector<std::string> names;
        for (const Fabric& fabric : all_fabrics()) names.push_back(fabric.name);
        throw InputError("--fabric", "is missing: several nodes need a network",
                         fmt::format("write one of {}", fmt::join(names, ", ")));
    }
    return join(std::move(machine), options.nodes, fabric_named(options.fabric));
}

NcclEnvironment environment_of(const MachineOptions& options, std::vector<std::string>& warnings) {
    NcclEnvironment environment;
    for (const std::string& assignment : options.nccl_env)
        if (!environment.set(assignment, "--nccl-env"))
            warnings.push_back(
                fmt::format("--nccl-env {}: not understood, no effect on the answer", assignment));
    return environment;
}

void require_one_gpu_kind(const Machine& machine, const std::vector<int>& gpus) {
    const GpuModel* first = nullptr;
    for (const int gpu : gpus) {
        const MachineGpu& one = machine.gpu(gpu);
        if (!one.model)
            throw InputError("--machine", "does not say which GPUs it has",
                             "add --gpu with their name, for example --gpu h200-sxm");
        if (first && first != one.model)
            throw InputError("--gpu-ids",
                             fmt::format("mixes {} and {}: plans for mixed GPUs are not modelled",
                                         first->name, one.model->name),
                             "choose GPUs of one kind");
        first = one.model;
    }
}

std::vector<int> named_gpus(const MachineOptions& options, const Machine& machine) {
    if (options.gpu_ids.empty()) return {};
    std::vector<int> of_node;
    std::set<std::int64_t> seen;
    for (const std::string& word : split(options.gpu_ids, ',')) {
        const std::int64_t id = integer_of(word, "--gpu-ids");
        if (id < 0 || id >= machine.gpus_per_server())
            throw InputError("--gpu-ids", fmt::format("there is no GPU {} on {}", id, machine.name),
                             fmt::format("write ids from 0 to {}", machine.gpus_per_server() - 1));
        if (!seen.insert(id).second)
            throw InputError("--gpu-ids", fmt::format("GPU {} is named twice", id), "name each GPU once");
        of_node.push_back(static_cast<int>(id));
    }
    std::vector<int> gpus;
    for (int node = 0; node < machine.servers; ++node)
        for (const int gpu : of_node) gpus.push_back(node * machine.gpus_per_server() + gpu);
    return gpus;
}

int gpus_per_node(const MachineOptions& options, const Machine& machine) {
    const int most = machine.gpus_per_server();
    if (most == 0)
        throw InputError("--machine", fmt::format("{} has no GPUs", machine.name),
                         "give a machine with GPUs");
    if (!options.gpus) return most;
    if (*options.gpus < 1 || *options.gpus > most)
        throw InputError("--gpus", fmt::format("{} of the {} GPUs of {}", *options.gpus, most, machine.name),
                         fmt::format("write 1 to {}", most));
    return *options.gpus;
}

}  // namespace wirewise
