#include "tests/collectives/placement_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wirewise::test {
namespace {

// "github.com/owner/repository/..." or "owner/repository/...": the files of one repository show one box.
std::string repository_of(std::string source) {
    for (const std::string_view head : {"https://", "github.com/"})
        if (source.starts_with(head)) source.erase(0, head.size());
    const std::size_t owner = source.find('/');
    return source.substr(0, owner == std::string::npos ? owner : source.find_first_of("/ @", owner + 1));
}

std::string hardware_of(const PublishedCollective& run) { return run.box.substr(0, run.box.find(" | ")); }

bool same_but_for_gpus(const PublishedCollective& a, const PublishedCollective& b) {
    return hardware_of(a) == hardware_of(b) && repository_of(a.source) == repository_of(b.source) &&
           a.op == b.op && a.bytes == b.bytes && a.nodes == b.nodes && a.nccl_env == b.nccl_env &&
           a.gpus != b.gpus;
}

}  // namespace

OrderedPairs order_of_placements(const std::vector<Judged>& judged, double least, bool flat) {
    OrderedPairs pairs;
    for (std::size_t i = 0; i < judged.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const Judged &a = judged[i], &b = judged[j];
            if (!same_but_for_gpus(a.run, b.run) || (a.flat && b.flat) != flat) continue;
            const double measured_a = a.run.busbw.value(), measured_b = b.run.busbw.value();
            if (std::max(measured_a, measured_b) <= (1 + least) * std::min(measured_a, measured_b)) continue;
            if ((measured_a > measured_b) == (a.predicted > b.predicted) && a.predicted != b.predicted)
                ++pairs.right;
            else
                pairs.wrong.push_back(
                    fmt::format("{} and {}: {} of {} MiB on {} and {} GPUs, measured {:.1f} and {:.1f}, "
                                "predicted {:.1f} and {:.1f} GB/s",
                                a.run.id, b.run.id, name_of(a.run.op), a.run.bytes.count() >> 20,
                                a.run.gpus.size(), b.run.gpus.size(), measured_a / 1e9, measured_b / 1e9,
                                a.predicted / 1e9, b.predicted / 1e9));
        }
    return pairs;
}

}  // namespace wirewise::test
