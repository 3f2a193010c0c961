#include "simulator/planner/placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "model/collectives/place.hpp"
#include "model/units/text.hpp"

namespace wirewise {

ChosenGpus choose_gpus(const Machine& machine, const NcclEnvironment& environment, int per_server) {
    std::vector<int> first(static_cast<std::size_t>(per_server));
    std::iota(first.begin(), first.end(), 0);
    if (per_server == machine.gpus_per_server())
        return {on_all_servers(machine, first), fmt::format("all {} GPUs", machine.gpu_count())};
    if (per_server == 1) return {on_all_servers(machine, first), "GPU 0"};
    const auto ranked = place(machine, environment, per_server);
    const Placement &best = ranked.front(), &worst = ranked.back();
    std::string why =
        fmt::format("GPUs {}: all-reduce at {}", fmt::join(best.order, ","), to_text(best.busbw));
    if (worst.busbw < best.busbw * 0.95)
        why +=
            fmt::format("; the worst choice, {}, has {}", fmt::join(worst.order, ","), to_text(worst.busbw));
    return {on_all_servers(machine, best.order), why};
}

int default_shard_group(const Machine& machine, const std::vector<int>& gpus) {
    const int ranks = static_cast<int>(gpus.size());
    if (machine.servers > 1) return ranks / machine.servers;
    std::size_t largest = 1;
    for (const auto& island : islands(machine)) {
        const auto members = std::count_if(gpus.begin(), gpus.end(), [&](int gpu) {
            return std::find(island.begin(), island.end(), gpu) != island.end();
        });
        largest = std::max(largest, static_cast<std::size_t>(members));
    }
    const int island = static_cast<int>(largest);
    if (island > 1 && island < ranks && ranks % island == 0) return island;
    return ranks % 2 == 0 ? ranks / 2 : 1;
}

}  // namespace wirewise
