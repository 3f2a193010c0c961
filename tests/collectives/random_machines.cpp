#include "tests/collectives/random_machines.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "model/topology/built_in.hpp"
#include "model/topology/import.hpp"
#include "tests/collectives/boxes.hpp"

namespace wirewise::test {
namespace {

constexpr int kMostGpus = 16;  // racks are cut down to so many: properties are run hundreds of times

bool usable(const Machine& machine) {
    if (machine.gpus_per_server() < 2) return false;
    for (int gpu = 1; gpu < machine.gpus_per_server(); ++gpu)
        if (path_class_of_gpus(machine, 0, gpu) == PathClass::none) return false;
    return true;
}

std::vector<Machine> known_machines() {
    std::vector<Machine> machines;
    for (const std::string& name : built_in_machine_names()) machines.push_back(*built_in_machine(name));
    const char* shared = std::getenv("WIREWISE_SHARED");
    const std::filesystem::path corpus =
        std::filesystem::path(shared != nullptr ? shared : WIREWISE_SOURCE_FOLDER "/../shared") /
        "topology_corpus";
    if (!std::filesystem::exists(corpus)) return machines;
    for (const auto& file : std::filesystem::directory_iterator(corpus)) {
        std::ifstream in(file.path());
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        ImportResult result = import_machine(text);
        if (result.machine && usable(*result.machine)) machines.push_back(std::move(*result.machine));
    }
    return machines;
}

Machine random_machine() {
    const GpuModel* kinds[] = {&v100(), &a100(), &h200(), &b200(), &geforce()};
    const GpuModel& gpu = *kinds[pick(0, 4)];
    constexpr CpuKind kCpus[] = {CpuKind::intel_skylake, CpuKind::intel_emerald_rapids, CpuKind::amd_epyc,
                                 CpuKind::unknown};
    const CpuKind cpu = kCpus[pick(0, 3)];
    switch (pick(0, 3)) {
        case 0:
            return switch_box(gpu.nvlinks > 0 ? gpu : h200(), pick(2, 9));
        case 1:
            return bridge_groups(gpu, pick(1, 3), pick(2, 4), gpu.nvlinks > 0 ? pick(1, gpu.nvlinks / 3) : 0,
                                 cpu);
        case 2:
            return pcie_box(gpu, pick(1, 2), pick(1, 2), pick(1, 3), cpu);
        default:
            return cube_mesh();
    }
}

}  // namespace

int pick(int from, int to) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, to + 1)); }

std::vector<int> shuffled(std::vector<int> values) {
    for (int i = static_cast<int>(values.size()) - 1; i > 0; --i)
        std::swap(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(pick(0, i))]);
    return values;
}

Subject any_subject() {
    static const std::vector<Machine> known = known_machines();
    Machine machine = pick(0, 2) == 0
                          ? random_machine()
                          : known[static_cast<std::size_t>(pick(0, static_cast<int>(known.size()) - 1))];
    if (machine.gpus_per_server() < 2) machine = cube_mesh();
    std::vector<int> gpus = shuffled(first(machine.gpus_per_server()));
    gpus.resize(static_cast<std::size_t>(pick(2, std::min(kMostGpus, static_cast<int>(gpus.size())))));
    return {std::move(machine), std::move(gpus)};
}

Machine relabelled(Machine machine, const std::vector<int>& order) {
    const std::vector<MachineGpu> old = machine.gpus;
    for (std::size_t i = 0; i < order.size(); ++i) {
        machine.gpus[i] = old[static_cast<std::size_t>(order[i])];
        machine.graph[machine.gpus[i].node].index = static_cast<int>(i);
    }
    return machine;
}

}  // namespace wirewise::test
