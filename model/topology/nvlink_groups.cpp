#include "model/topology/nvlink_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/topology/disjoint_sets.hpp"

namespace wirewise {
namespace {

constexpr int kMostLinks = 18;  // of any GPU so far (H100 to B300), for GPUs of unknown kind

class Groups {
  public:
    Groups(MachineBuilder& builder, const std::vector<NvlinkEnd>& ends,
           const std::function<int(std::size_t, std::size_t)>& count, std::vector<std::string>& warnings)
        : builder_(builder), ends_(ends), count_(count), warnings_(warnings) {}

    void add() {
        DisjointSets sets(ends_.size());
        std::vector<std::size_t> all(ends_.size());
        for (std::size_t a = 0; a < ends_.size(); ++a) {
            all[a] = a;
            for (std::size_t b = 0; b < a; ++b)
                if (count_(a, b) > 0) sets.join(a, b);
        }
        for (const auto& group : sets.sets(all)) {
            if (group.size() == 1) continue;
            switched(group) ? add_switch(group) : add_bundles(group);
        }
        warn_of_lost_links(sets, all);
    }

  private:
    int sum(std::size_t gpu) const {
        int links = 0;
        for (std::size_t other = 0; other < ends_.size(); ++other)
            if (other != gpu) links += count_(gpu, other);
        return links;
    }

    int most(std::size_t gpu) const {
        int links = 0;
        for (std::size_t other = 0; other < ends_.size(); ++other)
            if (other != gpu) links = std::max(links, count_(gpu, other));
        return links;
    }

    int links_of(std::size_t gpu) const {
        const GpuModel* model = ends_[gpu].model;
        return model && model->nvlinks > 0 ? model->nvlinks : kMostLinks;
    }

    // More links to peers than the GPU has are the same links over and over: a switch. A lone pair that shows
    // all links of a GPU that takes no bridges hangs from a switch, too (two GPUs of a bigger board).
    bool switched(const std::vector<std::size_t>& group) const {
        for (const std::size_t gpu : group)
            if (sum(gpu) > links_of(gpu) && !over_sound(gpu, group)) return true;
        if (group.size() > 2) return false;
        const GpuModel* model = ends_[group[0]].model;
        const int links = count_(group[0], group[1]);
        return model ? !model->nvlink_bridge && links == model->nvlinks && links > 0 &&
                           model->nvlink_version >= 2
                     : links == kMostLinks;
    }

    // A printed count beyond what the catalogue knows between just two GPUs is the catalogue's mistake, no
    // switch.
    bool over_sound(std::size_t gpu, const std::vector<std::size_t>& group) const {
        return group.size() == 2 && most(gpu) == sum(gpu);
    }

    void add_switch(const std::vector<std::size_t>& group) {
        const NodeId hub = builder_.nvswitch();
        for (const std::size_t gpu : group) builder_.nvlink(ends_[gpu].node, hub, most(gpu));
    }

    void add_bundles(const std::vector<std::size_t>& group) {
        for (const std::size_t a : group)
            for (const std::size_t b : group)
                if (a < b && count_(a, b) > 0) builder_.nvlink(ends_[a].node, ends_[b].node, count_(a, b));
    }

    void warn_of_lost_links(const DisjointSets& sets, const std::vector<std::size_t>& all) {
        int best = 0;
        for (const std::size_t gpu : all) best = std::max(best, used(gpu));
        for (const auto& group : sets.sets(all))
            for (const std::size_t gpu : group) {
                const GpuModel* model = ends_[gpu].model;
                if (used(gpu) == 0) continue;
                // Known kind: against its own links (a mesh may leave some free, a bridge or switch never
                // does).
                const bool whole_kind = model && (model->nvlink_bridge || switched(group));
                const int expected = whole_kind ? model->nvlinks : best;
                if (used(gpu) < expected)
                    warnings_.push_back(
                        fmt::format("{} shows {} NVLinks where {} are expected: some may be down",
                                    ends_[gpu].name, used(gpu), expected));
            }
        if (best > 0 || ends_.size() < 2) return;
        if (std::any_of(all.begin(), all.end(), [&](std::size_t gpu) { return idle_sxm(gpu); }))
            warnings_.emplace_back(
                "GPUs that are built to be joined by NVLink show none: it may be down or hidden");
    }

    bool idle_sxm(std::size_t gpu) const {
        const GpuModel* model = ends_[gpu].model;
        return model && model->nvlinks > 0 && !model->nvlink_bridge;
    }

    int used(std::size_t gpu) const { return sum(gpu) > links_of(gpu) ? most(gpu) : sum(gpu); }

    MachineBuilder& builder_;
    const std::vector<NvlinkEnd>& ends_;
    const std::function<int(std::size_t, std::size_t)>& count_;
    std::vector<std::string>& warnings_;
};

}  // namespace

void add_nvlink_groups(MachineBuilder& builder, const std::vector<NvlinkEnd>& ends,
                       const std::function<int(std::size_t, std::size_t)>& count,
                       std::vector<std::string>& warnings) {
    Groups(builder, ends, count, warnings).add();
}

}  // namespace wirewise
