#include "model/topology/smi/wiring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "model/topology/builder.hpp"
#include "model/topology/disjoint_sets.hpp"
#include "model/topology/nvlink_groups.hpp"

namespace wirewise::smi {
namespace {

using Members = std::vector<std::size_t>;

std::optional<std::string> affinity_under(const Device& device, std::string_view heading) {
    for (const auto& [name, text] : device.affinity)
        if (name == heading && text && *text != "N/A") return text;
    return std::nullopt;
}

// What tells GPUs of one NUMA node apart from others when NVLink hides their PCIe class.
std::optional<std::string> numa_key(const Device& device) {
    if (auto numa = affinity_under(device, "NUMA Affinity")) return numa;
    return affinity_under(device, "CPU Affinity");
}

class Wiring {
  public:
    Wiring(const Matrix& matrix, const ImportHints& hints, std::vector<std::string>& warnings)
        : matrix_(matrix),
          warnings_(warnings),
          builder_(hints.name),
          numas_(matrix.devices.size()),
          bridges_(matrix.devices.size()),
          switches_(matrix.devices.size()),
          leaves_(matrix.devices.size()) {
        gpus_ = matrix.gpus();
        everything_ = gpus_;
        for (const std::size_t nic : matrix.nics()) everything_.push_back(nic);
    }

    Machine machine(const GpuModel* everywhere) {
        set_models(everywhere);
        group();
        std::vector<Members> numas = numas_.sets(everything_);
        number_numas(numas);
        add_gpus();
        for (std::size_t i = 0; i < numas.size(); ++i) add_numa(numas[i], i);
        add_nvlinks();
        builder_.machine().pcie_peer_to_peer = matrix_.pcie_peer_to_peer;
        warn_of_flat_tree();
        return builder_.build();
    }

  private:
    std::optional<PathClass> path(std::size_t a, std::size_t b) const {
        const auto cell = matrix_.cell(a, b);
        return cell ? std::optional(cell->path) : std::nullopt;
    }

    void set_models(const GpuModel* everywhere) {
        bool unknown = false;
        for (const std::size_t gpu : gpus_) {
            const GpuModel* own = matrix_.devices[gpu].model;
            models_[gpu] = own ? own : everywhere;
            unknown = unknown || models_[gpu] == nullptr;
        }
        generation_ = 0;
        for (const auto& [gpu, model] : models_)
            if (model) generation_ = std::max(generation_, model->pcie_generation);
        if (!unknown) return;
        if (generation_ == 0) generation_ = guessed_generation();
        warnings_.push_back(
            fmt::format("the text does not name the GPU: memory and compute are unknown, NVLinks are taken "
                        "at 20 GB/s and PCIe at "
                        "generation {}; name it with --gpu",
                        generation_));
    }

    // The NVLink count gives the generation of the GPU away: V100 up to NV3 and its DGX-2, Hopper and later
    // NV18 or NV6.
    int guessed_generation() const {
        int most = 0;
        for (const std::size_t a : gpus_)
            for (const std::size_t b : gpus_) most = std::max(most, matrix_.cell(a, b)->nvlinks);
        if (most == 0) return 4;
        if (most <= 2 || (most == 6 && gpus_.size() == 16)) return 3;
        return most == 18 || most == 6 ? 5 : 4;
    }

    void group() {
        for (const std::size_t a : everything_)
            for (const std::size_t b : everything_) {
                const auto how = a < b ? path(a, b) : std::nullopt;
                if (!how || *how < PathClass::pix || *how > PathClass::node) continue;
                numas_.join(a, b);
                if (*how <= PathClass::phb) bridges_.join(a, b);
                if (*how <= PathClass::pxb) switches_.join(a, b);
                if (*how == PathClass::pix) leaves_.join(a, b);
            }
        join_by_affinity();
    }

    // Only GPUs joined by NVLink need it; a pair that prints SYS stays apart whatever the affinities say.
    void join_by_affinity() {
        for (const std::size_t a : gpus_)
            for (const std::size_t b : gpus_) {
                if (a >= b || numas_.together(a, b) || path(a, b) != PathClass::nvlink) continue;
                const auto key_a = numa_key(matrix_.devices[a]), key_b = numa_key(matrix_.devices[b]);
                if (key_a == key_b && !across_sockets(a, b)) numas_.join(a, b);
            }
    }

    bool across_sockets(std::size_t a, std::size_t b) const {
        for (const std::size_t c : everything_)
            for (const std::size_t d : everything_)
                if (numas_.together(a, c) && numas_.together(b, d) && path(c, d) == PathClass::sys)
                    return true;
        return false;
    }

    static std::optional<int> printed_numa(const Device& device) {
        const auto text = affinity_under(device, "NUMA Affinity");
        if (!text || text->empty() || text->size() > 3 ||
            text->find_first_not_of("0123456789") != std::string::npos)
            return std::nullopt;
        return std::stoi(*text);
    }

    void number_numas(const std::vector<Members>& numas) {
        for (std::size_t i = 0; i < numas.size(); ++i)
            for (const std::size_t member : numas[i]) numa_of_[member] = static_cast<int>(i);
    }

    void add_gpus() {
        for (const std::size_t gpu : gpus_) {
            const Device& device = matrix_.devices[gpu];
            nodes_[gpu] = builder_.gpu(models_[gpu], device.busid, numa_of_[gpu],
                                       affinity_under(device, "CPU Affinity").value_or(""));
        }
    }

    void add_numa(const Members& members, std::size_t index) {
        const auto number = printed_numa(matrix_.devices[members.front()]);
        const NodeId numa = builder_.numa(fmt::format("NUMA {}", number ? *number : static_cast<int>(index)));
        for (const Members& bridge : bridges_.sets(members)) {
            const NodeId root = builder_.host_bridge(numa);
            for (const Members& below : switches_.sets(bridge)) add_switch(below, root);
        }
    }

    // Devices that print PIX share one switch; several such groups that print PXB hang from a switch above.
    void add_switch(const Members& members, NodeId root) {
        if (members.size() == 1) return attach(members.front(), root);
        const std::vector<Members> leaves = leaves_.sets(members);
        NodeId above = root;
        if (leaves.size() > 1) {
            above = builder_.pcie_switch();
            builder_.pcie(above, root, generation_);
        }
        for (const Members& leaf : leaves) {
            const NodeId node = builder_.pcie_switch();
            builder_.pcie(node, above, generation_);
            for (const std::size_t member : leaf) attach(member, node);
        }
    }

    void attach(std::size_t member, NodeId above) {
        const Device& device = matrix_.devices[member];
        if (!device.gpu) nodes_[member] = builder_.nic(device.name, BytesPerSecond(0));
        const auto model = models_.find(member);
        const GpuModel* gpu = model == models_.end() ? nullptr : model->second;
        builder_.pcie(nodes_[member], above, gpu ? gpu->pcie_generation : generation_,
                      gpu ? gpu->pcie_width : 16);
    }

    void add_nvlinks() {
        std::vector<NvlinkEnd> ends;
        for (const std::size_t gpu : gpus_)
            ends.push_back({nodes_[gpu], models_[gpu], matrix_.devices[gpu].column});
        const auto count = [&](std::size_t a, std::size_t b) {
            return matrix_.cell(gpus_[a], gpus_[b])->nvlinks;
        };
        add_nvlink_groups(builder_, ends, count, warnings_);
    }

    // A guest that sees all GPUs straight under one host bridge sees no real tree.
    void warn_of_flat_tree() {
        if (gpus_.size() < 4) return;
        for (const std::size_t a : gpus_)
            for (const std::size_t b : gpus_)
                if (a != b && path(a, b) != PathClass::phb) return;
        warnings_.emplace_back(
            "every two GPUs print PHB: a virtual machine that hides the real tree looks so; the "
            "host's topology or measured rates would say more");
    }

    const Matrix& matrix_;
    std::vector<std::string>& warnings_;
    MachineBuilder builder_;
    DisjointSets numas_, bridges_, switches_, leaves_;
    Members gpus_, everything_;
    std::map<std::size_t, const GpuModel*> models_;
    std::map<std::size_t, NodeId> nodes_;
    std::map<std::size_t, int> numa_of_;
    int generation_ = 4;
};

// The GPU that the words around the matrix speak of, where they name none by number.
const GpuModel* spoken_of(const Matrix& matrix, const std::vector<std::string>& words,
                          std::vector<std::string>& warnings) {
    const bool named = std::all_of(matrix.devices.begin(), matrix.devices.end(),
                                   [](const Device& device) { return !device.gpu || device.model; });
    const GpuModel* model = named ? nullptr : gpu_model_in(fmt::format("{}", fmt::join(words, "\n")));
    if (model)
        warnings.push_back(fmt::format("GPU kind {} taken from the words around the matrix", model->name));
    return model;
}

}  // namespace

Machine machine_of(const Matrix& matrix, const std::vector<std::string>& words, const ImportHints& hints,
                   std::vector<std::string>& warnings) {
    const GpuModel* everywhere = hints.gpu ? hints.gpu : spoken_of(matrix, words, warnings);
    Machine machine = Wiring(matrix, hints, warnings).machine(everywhere);
    machine.description = "read from nvidia-smi topo -m text";
    return machine;
}

}  // namespace wirewise::smi
