#include "model/topology/xml/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "model/topology/xml/elements.hpp"

namespace wirewise::xml {
namespace {

constexpr std::string_view kCpuClass = "0x068001";  // an NVLink into a POWER CPU

class Links {
  public:
    Links(MachineBuilder& builder, const std::vector<Gpu>& gpus, std::vector<std::string>& warnings)
        : builder_(builder),
          gpus_(gpus),
          warnings_(warnings),
          to_switch_(gpus.size()),
          to_cpu_(gpus.size()) {}

    void add() {
        for (std::size_t i = 0; i < gpus_.size(); ++i)
            for (const char* tag : {"nvlink", "xgmi"})
                for (const pugi::xml_node& link : gpus_[i].element.children(tag)) sort(i, link);
        add_pairs();
        add_switch();
        add_coherent();
        warn_of_lost_links();
    }

  private:
    void sort(std::size_t gpu, const pugi::xml_node& link) {
        std::string target = link.attribute("target").value();
        std::transform(target.begin(), target.end(), target.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const std::string_view kind = link.attribute("tclass").value();
        const int count = std::clamp(number_in(link, "count").value_or(1), 0, 72);
        const auto peer =
            std::find_if(gpus_.begin(), gpus_.end(), [&](const Gpu& other) { return other.busid == target; });
        if (peer != gpus_.end() && peer->busid != gpus_[gpu].busid)
            to_peer_[{gpu, static_cast<std::size_t>(peer - gpus_.begin())}] += count;
        else if (kind == kCpuClass)
            to_cpu_[gpu] += count;
        else if (kind.starts_with("0x03") && peer == gpus_.end())
            warnings_.push_back(fmt::format("{} has {} NVLinks to {}, which is not in the file",
                                            gpus_[gpu].name, count, target));
        else
            to_switch_[gpu] += count;
    }

    // Both ends list the link. Where they differ, the smaller count works; where one is silent, the other is
    // believed.
    void add_pairs() {
        for (const auto& [ends, count] : to_peer_) {
            const auto [a, b] = ends;
            const auto back = to_peer_.find({b, a});
            if (back != to_peer_.end() && b < a) continue;
            const int both = back == to_peer_.end() ? count : std::min(count, back->second);
            if (back != to_peer_.end() && back->second != count)
                warnings_.push_back(
                    fmt::format("{} and {} disagree on the links between them ({}, {}): {} are taken",
                                gpus_[a].name, gpus_[b].name, count, back->second, both));
            if (both > 0) builder_.nvlink(gpus_[a].node, gpus_[b].node, both);
        }
    }

    void add_switch() {
        if (std::all_of(to_switch_.begin(), to_switch_.end(), [](int count) { return count == 0; })) return;
        const NodeId hub = builder_.nvswitch();
        for (std::size_t i = 0; i < gpus_.size(); ++i)
            if (to_switch_[i] > 0) builder_.nvlink(gpus_[i].node, hub, to_switch_[i]);
    }

    // <c2c bw="43125" count="8">: NCCL takes bandwidth x count / 1000 GB/s.
    void add_coherent() {
        for (std::size_t i = 0; i < gpus_.size(); ++i) {
            double gigabytes = to_cpu_[i] * 20.0;
            for (const pugi::xml_node& link : gpus_[i].element.children("c2c"))
                gigabytes += static_cast<double>(number_in(link, "bw").value_or(0)) *
                             std::clamp(number_in(link, "count").value_or(1), 0, 64) / 1000;
            if (gigabytes > 0)
                builder_.c2c(gpus_[i].node, gpus_[i].numa_node, BytesPerSecond(gigabytes * 1e9));
        }
    }

    int links(std::size_t gpu) const {
        int sum = to_switch_[gpu] + to_cpu_[gpu];
        for (const auto& [ends, count] : to_peer_)
            if (ends.first == gpu) sum += count;
        return sum;
    }

    void warn_of_lost_links() {
        int most = 0;
        for (std::size_t i = 0; i < gpus_.size(); ++i) most = std::max(most, links(i));
        for (std::size_t i = 0; i < gpus_.size(); ++i) {
            const GpuModel* model = gpus_[i].model;
            if (!gpus_[i].element) continue;
            if (model && model->vendor == "nvidia" && links(i) > model->nvlinks)
                warnings_.push_back(fmt::format("{} shows {} NVLinks, more than the {} of its kind",
                                                gpus_[i].name, links(i), model->nvlinks));
            const bool switched = to_switch_[i] > 0;
            const int expected = switched && model ? std::max(most, model->nvlinks) : most;
            if (links(i) < expected)
                warnings_.push_back(fmt::format("{} shows {} NVLinks where {} are expected: some may be down",
                                                gpus_[i].name, links(i), expected));
        }
        const bool built_for_it = std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& gpu) {
            return gpu.model && gpu.model->nvlinks > 0 && !gpu.model->nvlink_bridge;
        });
        if (most == 0 && built_for_it && gpus_.size() > 1)
            warnings_.emplace_back(
                "these GPUs are built to be joined by NVLink but the file shows no link: NCCL adds them "
                "by detection; this machine is read without");
    }

    MachineBuilder& builder_;
    const std::vector<Gpu>& gpus_;
    std::vector<std::string>& warnings_;
    std::map<std::pair<std::size_t, std::size_t>, int> to_peer_;
    std::vector<int> to_switch_, to_cpu_;
};

}  // namespace

void add_links(MachineBuilder& builder, const std::vector<Gpu>& gpus, std::vector<std::string>& warnings) {
    Links(builder, gpus, warnings).add();
}

}  // namespace wirewise::xml
