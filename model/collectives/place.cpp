#include "model/collectives/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <numeric>
#include <thread>
#include <unordered_map>

#include "model/collectives/promise.hpp"
#include "model/collectives/wiring_shape.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

struct Shape {
    std::vector<int> gpus;  // the first set of it
    std::int64_t alike = 0;
};

constexpr std::int64_t kMostSubsets = 200'000;

// Moves to the next subset in rising order; false after the last.
bool next_subset(std::vector<int>& gpus, int of) {
    const int count = static_cast<int>(gpus.size());
    int place = count - 1;  // the last GPU that can still move up
    while (place >= 0 && gpus[static_cast<std::size_t>(place)] == of - count + place) --place;
    if (place < 0) return false;
    ++gpus[static_cast<std::size_t>(place)];
    for (int later = place + 1; later < count; ++later)
        gpus[static_cast<std::size_t>(later)] = gpus[static_cast<std::size_t>(later - 1)] + 1;
    return true;
}

// The next run of neighbouring numbers: all that is looked at where subsets are too many.
bool next_window(std::vector<int>& gpus, int of) {
    if (gpus.back() + 1 >= of) return false;
    for (int& gpu : gpus) ++gpu;
    return true;
}

std::int64_t subsets(int of, int count) {
    double number = 1;
    for (int i = 1; i <= count; ++i) number *= static_cast<double>(of - count + i) / i;
    return number > 1e15 ? std::int64_t{1'000'000'000'000'000} : static_cast<std::int64_t>(number + 0.5);
}

// The subsets of `count` GPUs, folded by shape.
std::vector<Shape> shapes_of(const PairLabels& labels, int count) {
    std::vector<int> gpus(static_cast<std::size_t>(count));
    std::iota(gpus.begin(), gpus.end(), 0);
    const std::int64_t all = subsets(labels.gpus(), count);
    if (labels.uniform()) return {{gpus, all}};
    std::vector<Shape> shapes;
    std::unordered_map<std::uint64_t, std::size_t> known;
    const auto next = all > kMostSubsets ? next_window : next_subset;
    do {
        const auto [entry, fresh] = known.try_emplace(shape_of(labels, gpus), shapes.size());
        if (fresh) shapes.push_back({gpus, 0});
        ++shapes[entry->second].alike;
    } while (next(gpus, labels.gpus()));
    return shapes;
}

// An irregular mesh of 16 GPUs has thousands of shapes, and to price one takes a millisecond or two up to
// eight GPUs, twenty with fourteen.
std::size_t most_priced(std::size_t count) { return count <= 8 ? 256 : 64; }

std::vector<Shape> most_promising(const Machine& machine, std::vector<Shape> shapes) {
    const std::size_t most = shapes.empty() ? 0 : most_priced(shapes.front().gpus.size());
    if (shapes.size() <= most) return shapes;
    const Promise promise(machine);
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t i = 0; i < shapes.size(); ++i) ranked.emplace_back(-promise.of(shapes[i].gpus), i);
    std::sort(ranked.begin(), ranked.end());
    std::vector<Shape> best;
    for (std::size_t i = 0; i < most; ++i) best.push_back(std::move(shapes[ranked[i].second]));
    return best;
}

std::vector<std::vector<int>> groups_of(const std::vector<int>& order, int size) {
    std::vector<std::vector<int>> groups;
    const auto step = static_cast<std::size_t>(size);
    for (std::size_t at = 0; at < order.size(); at += step)
        groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(at),
                            order.begin() + static_cast<std::ptrdiff_t>(std::min(at + step, order.size())));
    return groups;
}

// Keeps each group together: starts with the lowest GPU left and adds the one nearest to the group so far.
std::vector<int> clustered_order(const Machine& machine, const std::vector<int>& gpus, int size) {
    std::vector<int> left = gpus, order;
    while (!left.empty()) {
        const auto start = static_cast<std::ptrdiff_t>(order.size());
        order.push_back(left.front());
        left.erase(left.begin());
        while (static_cast<std::ptrdiff_t>(order.size()) - start < size && !left.empty()) {
            const auto distance = [&](int gpu) {
                double sum = 0;
                for (auto member = order.begin() + start; member != order.end(); ++member)
                    sum += path_rate(machine, machine.gpu(*member).node, machine.gpu(gpu).node).value();
                return -sum;
            };
            const auto nearest = std::min_element(left.begin(), left.end(),
                                                  [&](int a, int b) { return distance(a) < distance(b); });
            order.push_back(*nearest);
            left.erase(nearest);
        }
    }
    return order;
}

class Search {
  public:
    Search(const Machine& machine, const NcclEnvironment& environment, const PlacementObjective& objective)
        : machine_(machine), environment_(environment), objective_(objective) {}

    Placement priced(std::vector<int> order, std::int64_t alike) const {
        const std::vector<int> ranks = on_all_servers(machine_, order);
        const int size = objective_.group > 0 ? objective_.group : static_cast<int>(ranks.size());
        const CollectivePricer pricer(machine_, environment_, groups_of(ranks, size));
        const CollectivePrice price = pricer.price(objective_.kind, objective_.bytes);
        Placement placement;
        placement.order = std::move(order);
        placement.seconds = price.seconds;
        placement.busbw = price.busbw;
        placement.bottleneck = price.bottleneck;
        placement.alike = alike;
        return placement;
    }

    // NCCL orders its rings itself, so that order matters only where ranks form groups or talk to their
    // neighbours.
    Placement best_order(const Shape& shape) const {
        Placement best = priced(shape.gpus, shape.alike);
        const bool ordered = objective_.kind == CollectiveKind::send_recv;
        const int count = static_cast<int>(shape.gpus.size());
        if (objective_.group <= 1 && !ordered) return best;
        const int size = ordered && objective_.group == 0 ? 2 : objective_.group;
        if (size >= count && !ordered) return best;
        improve(best, clustered_order(machine_, shape.gpus, size));
        climb(best, size);
        return best;
    }

  private:
    bool improve(Placement& best, std::vector<int> order) const {
        Placement other = priced(std::move(order), best.alike);
        if (!(other.seconds < best.seconds)) return false;
        best = std::move(other);
        return true;
    }

    // Swaps of two ranks of different groups while one of them helps; a few rounds are plenty from a
    // clustered start.
    void climb(Placement& best, int size) const {
        constexpr int kRounds = 2;
        const std::size_t count = best.order.size();
        for (int round = 0; round < kRounds; ++round) {
            bool helped = false;
            for (std::size_t a = 0; a < count; ++a)
                for (std::size_t b = a + 1; b < count; ++b) {
                    if (a / static_cast<std::size_t>(size) == b / static_cast<std::size_t>(size)) continue;
                    std::vector<int> order = best.order;
                    std::swap(order[a], order[b]);
                    helped |= improve(best, std::move(order));
                }
            if (!helped) return;
        }
    }

    const Machine& machine_;
    const NcclEnvironment& environment_;
    const PlacementObjective& objective_;
};

// A core takes every n-th shape, where there are enough of them to be worth its start.
std::vector<Placement> best_orders(const Search& search, const std::vector<Shape>& shapes) {
    constexpr std::size_t kLeastPerCore = 8;
    std::vector<Placement> placements(shapes.size());
    const std::size_t cores = std::clamp<std::size_t>(shapes.size() / kLeastPerCore, 1,
                                                      std::max(1U, std::thread::hardware_concurrency()));
    const auto every_nth = [&](std::size_t first) {
        for (std::size_t i = first; i < shapes.size(); i += cores)
            placements[i] = search.best_order(shapes[i]);
    };
    std::vector<std::future<void>> others;
    for (std::size_t core = 1; core < cores; ++core)
        others.push_back(std::async(every_nth, core));  // where no thread is to be had: later, here
    every_nth(0);
    for (std::future<void>& other : others) other.get();
    return placements;
}

void check(const Machine& machine, int count, const PlacementObjective& objective) {
    if (count < 1 || count > machine.gpus_per_server())
        throw InputError(
            "--count",
            fmt::format("{} has {} GPUs a server, not {}", machine.name, machine.gpus_per_server(), count),
            fmt::format("write a number from 1 to {}", machine.gpus_per_server()));
    if (objective.group < 0 || (objective.group > 0 && count % objective.group != 0))
        throw InputError("--group",
                         fmt::format("{} GPUs do not divide into groups of {}", count, objective.group),
                         "write a divisor of --count");
}

}  // namespace

std::vector<int> Placement::gpus() const {
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

std::vector<int> on_all_servers(const Machine& machine, const std::vector<int>& order) {
    std::vector<int> ranks;
    ranks.reserve(order.size() * static_cast<std::size_t>(machine.servers));
    for (int server = 0; server < machine.servers; ++server)
        for (const int gpu : order) ranks.push_back(server * machine.gpus_per_server() + gpu);
    return ranks;
}

std::vector<Placement> place(const Machine& machine, const NcclEnvironment& environment, int count,
                             const PlacementObjective& objective) {
    check(machine, count, objective);
    const Search search(machine, environment, objective);
    const PairLabels labels(machine);
    std::vector<Placement> placements =
        best_orders(search, most_promising(machine, shapes_of(labels, count)));
    std::vector<int> naive(static_cast<std::size_t>(count));
    std::iota(naive.begin(), naive.end(), 0);
    const auto same = [&](const Placement& placement) { return placement.order == naive; };
    if (const auto found = std::find_if(placements.begin(), placements.end(), same);
        found != placements.end())
        found->naive = true;
    else {
        placements.push_back(search.priced(naive, 1));
        placements.back().naive = true;
    }
    std::stable_sort(placements.begin(), placements.end(),
                     [](const Placement& a, const Placement& b) { return a.seconds < b.seconds; });
    return placements;
}

std::string visible_devices(const Placement& placement) {
    return fmt::format("CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES={}",
                       fmt::join(placement.order, ","));
}

}  // namespace wirewise
