#include "model/collectives/wiring_shape.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "model/collectives/network.hpp"

namespace wirewise {
namespace {

// A 64-bit mixer: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15ULL;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ULL;
    return x ^ (x >> 32);
}

constexpr int kRounds = 3;

// For jobs over several servers: the NICs of each GPU.
std::vector<std::vector<std::size_t>> nics_of_gpus(const Machine& machine) {
    std::vector<std::vector<std::size_t>> nics(machine.gpus.size());
    if (machine.servers > 1)
        for (std::size_t gpu = 0; gpu < nics.size(); ++gpu)
            nics[gpu] = nearest_nics(machine, static_cast<int>(gpu));
    return nics;
}

int in_common(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
    std::vector<std::size_t> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return static_cast<int>(both.size());
}

}  // namespace

PairLabels::PairLabels(const Machine& machine) : gpus_(machine.gpus_per_server()) {
    std::map<std::tuple<PathClass, int, double, int>, std::uint32_t> numbers;
    std::map<std::pair<const GpuModel*, std::size_t>, std::uint32_t> kinds;
    const auto nics = nics_of_gpus(machine);
    labels_.resize(static_cast<std::size_t>(gpus_ * gpus_));
    for (int a = 0; a < gpus_; ++a)
        for (int b = 0; b < gpus_; ++b) {
            std::uint32_t& label = labels_[static_cast<std::size_t>(a * gpus_ + b)];
            const MachineGpu &from = machine.gpu(a), &to = machine.gpu(b);
            const auto &nics_a = nics[static_cast<std::size_t>(a)],
                       &nics_b = nics[static_cast<std::size_t>(b)];
            if (a == b) {
                label = kinds.try_emplace({from.model, nics_a.size()}, kinds.size()).first->second;
                continue;
            }
            const std::tuple key{path_class(machine, from.node, to.node), nvlink_count(machine, a, b),
                                 path_rate(machine, from.node, to.node).value(), in_common(nics_a, nics_b)};
            label = numbers.try_emplace(key, numbers.size()).first->second;
        }
    uniform_ = numbers.size() <= 1 && kinds.size() <= 1;
}

std::uint64_t shape_of(const PairLabels& labels, const std::vector<int>& gpus) {
    const std::size_t n = gpus.size();
    std::vector<std::uint64_t> colour(n), next(n);
    for (std::size_t i = 0; i < n; ++i) colour[i] = mix(labels.kind(gpus[i]) + 1);
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t sum = 0;  // a sum of mixed terms does not see the order of the neighbours
            for (std::size_t j = 0; j < n; ++j)
                if (i != j) sum += mix(colour[j] + 0x51ed27 * (labels.label(gpus[i], gpus[j]) + 1));
            next[i] = mix(colour[i] ^ sum);
        }
        colour.swap(next);
    }
    std::uint64_t shape = 0;
    for (const std::uint64_t one : colour) shape += mix(one);
    return shape;
}

}  // namespace wirewise
