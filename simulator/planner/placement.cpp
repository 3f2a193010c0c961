#include "simulator/planner/placement.hpp"

#include <algorithm>
#include <numeric>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/collectives/pricer.hpp"
#include "model/units/text.hpp"

namespace wirewise {

namespace {

constexpr Bytes kJudgedBy = 256_MiB;       // of an all-reduce: large enough that bandwidth decides
constexpr std::size_t kMostSubsets = 400;  // different-looking ones that are priced

// What a choice of GPUs looks like to its members: equal looks, equal speed.
using Look = std::vector<std::vector<std::pair<PathClass, int>>>;

Look look_of(const Machine& machine, const std::vector<int>& gpus) {
    Look look;
    for (const int a : gpus) {
        auto& row = look.emplace_back();
        for (const int b : gpus)
            if (a != b) row.emplace_back(path_class_of_gpus(machine, a, b), nvlink_count(machine, a, b));
        std::sort(row.begin(), row.end());
    }
    std::sort(look.begin(), look.end());
    return look;
}

// The next subset of size k in lexicographic order; false after the last.
bool advance(std::vector<int>& subset, int n) {
    const int k = static_cast<int>(subset.size());
    int i = k - 1;
    while (i >= 0 && subset[static_cast<std::size_t>(i)] == n - k + i) --i;
    if (i < 0) return false;
    std::iota(subset.begin() + i, subset.end(), subset[static_cast<std::size_t>(i)] + 1);
    return true;
}

// One subset of each look, the first in order, with how many there are.
std::vector<RankedGpus> different_subsets(const Machine& machine, int count) {
    std::vector<int> subset(static_cast<std::size_t>(count));
    std::iota(subset.begin(), subset.end(), 0);
    std::map<Look, std::size_t> seen;
    std::vector<RankedGpus> different;
    constexpr int kMostLooks = 20000;  // bounds the time on machines with very many GPUs
    int looked = 0;
    do {
        const auto [known, fresh] = seen.try_emplace(look_of(machine, subset), different.size());
        if (fresh)
            different.push_back({subset});
        else
            ++different[known->second].alike;
    } while (different.size() < kMostSubsets && ++looked < kMostLooks && advance(subset, machine.gpus_per_server()));
    return different;
}

std::vector<int> on_all_servers(const Machine& machine, const std::vector<int>& of_one) {
    std::vector<int> gpus;
    for (int server = 0; server < machine.servers; ++server)
        for (const int gpu : of_one) gpus.push_back(server * machine.gpus_per_server() + gpu);
    return gpus;
}

}  // namespace

std::vector<RankedGpus> rank_placements(const Machine& machine, const NcclEnvironment& environment, int count, Bytes bytes) {
    auto ranked = different_subsets(machine, count);
    for (RankedGpus& choice : ranked) {
        const CollectivePricer pricer(machine, environment, {choice.gpus});
        const CollectivePrice price = pricer.price(CollectiveKind::all_reduce, bytes);
        choice.busbw = price.busbw;
        choice.bottleneck = std::string(price.bottleneck);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.busbw > b.busbw; });
    return ranked;
}

ChosenGpus choose_gpus(const Machine& machine, const NcclEnvironment& environment, int per_server) {
    std::vector<int> first(static_cast<std::size_t>(per_server));
    std::iota(first.begin(), first.end(), 0);
    if (per_server == machine.gpus_per_server())
        return {on_all_servers(machine, first), fmt::format("all {} GPUs", machine.gpu_count())};
    if (per_server == 1) return {on_all_servers(machine, first), "GPU 0"};
    const auto ranked = rank_placements(machine, environment, per_server, kJudgedBy);
    const RankedGpus &best = ranked.front(), &worst = ranked.back();
    std::string why = fmt::format("GPUs {}: all-reduce at {}", fmt::join(best.gpus, ","), to_text(best.busbw));
    if (worst.busbw < best.busbw * 0.95) why += fmt::format("; the worst choice has {}", to_text(worst.busbw));
    return {on_all_servers(machine, best.gpus), why};
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
