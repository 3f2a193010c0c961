#include "model/collectives/pricer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/collectives/candidates.hpp"
#include "model/collectives/group_wires.hpp"
#include "model/collectives/samples.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

constexpr std::size_t kKinds = kCollectiveNames.size();

// Half of the widest range allowed, as a factor: sqrt(2.5), a little less so that rounding keeps the promise.
constexpr double kSoftSpread = 1.58;
// Where the wiring decides: 90 % of the published runs lie this near (see tests/collectives).
constexpr double kFirmSpread = 1.18;
// Off samples, from 1 MiB: 90 % lie within (leave-one-size-out, see tests).
constexpr double kMeasuredSpread = 1.15;

struct PricedKind {
    std::vector<Candidate> candidates;
    double bound_seconds_per_byte = 0;
    const CollectiveCurve* curve = nullptr;
};

struct PricedGroup {
    int ranks = 1;
    double floor = 0;
    std::string_view transport;
    std::array<PricedKind, kKinds> kinds;
};

double launch_floor(const GroupRates& group) {
    const double shared = kLaunchFloorPerGpu * std::min(group.local_ranks, kLaunchGroup);
    const bool sockets = group.servers == 1 && group.transport_name == "net";
    return std::max({kLaunchFloor, shared, sockets ? kSocketFloor : 0});
}

double bound_of(const GroupRates& group, CollectiveKind kind) {
    double bound = 0;
    // Cuts of one server's GPUs stand for the whole group only where it has no others.
    if (group.servers == 1)
        for (const Cut& cut : group.cuts)
            bound = std::max(bound, seconds_per_byte_over(cut, kind, group.ranks));
    if (group.servers > 1)
        for (const int inside : {group.local_ranks, group.ranks - group.local_ranks})
            bound =
                std::max(bound, seconds_per_byte_over({inside, true, group.network.rate}, kind, group.ranks));
    return bound;
}

PricedGroup priced(const GroupRates& rates, const NcclEnvironment& environment) {
    PricedGroup group;
    group.ranks = rates.ranks;
    group.floor = launch_floor(rates);
    group.transport = rates.transport_name;
    if (rates.ranks < 2) return group;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        group.kinds[kind].candidates = candidates_for(static_cast<CollectiveKind>(kind), rates, environment);
        group.kinds[kind].bound_seconds_per_byte = bound_of(rates, static_cast<CollectiveKind>(kind));
    }
    return group;
}

// Samples speak only for what they were taken on: one group alone, nothing pinned.
std::optional<WireName> wire_of(const GroupRates& rates, const NcclEnvironment& environment) {
    if (rates.servers > 1 || rates.gpu.empty() || environment.pins_something()) return std::nullopt;
    const bool p2p = rates.transport == Transport::p2p;
    return WireName{rates.gpu, std::string(rates.transport_name), p2p ? rates.path : "", rates.ranks,
                    rates.switch_port.rate > 0 && environment.nvls && rates.ranks > 2};
}

void attach_samples(PricedGroup& group, const GroupRates& rates, const NcclEnvironment& environment,
                    const CollectiveSamples& samples) {
    const std::optional<WireName> wire = wire_of(rates, environment);
    if (!wire) return;
    for (std::size_t kind = 0; kind < kKinds; ++kind)
        group.kinds[kind].curve = samples.find(*wire, static_cast<CollectiveKind>(kind));
}

}  // namespace

struct CollectivePricer::State {
    std::vector<PricedGroup> groups;
};

CollectivePricer::CollectivePricer(const Machine& machine, const NcclEnvironment& environment,
                                   std::vector<std::vector<int>> groups, const CollectiveSamples* samples)
    : state_(std::make_unique<State>()) {
    for (const ServerView& view : views_of_servers(machine, groups))
        for (const GroupRates& rates : rates_of_groups(machine, environment, view)) {
            state_->groups.push_back(priced(rates, environment));
            if (samples != nullptr && view.size() == 1)
                attach_samples(state_->groups.back(), rates, environment, *samples);
        }
}

CollectivePricer::~CollectivePricer() = default;
CollectivePricer::CollectivePricer(CollectivePricer&&) noexcept = default;
CollectivePricer& CollectivePricer::operator=(CollectivePricer&&) noexcept = default;

namespace {

// NCCL's tuner goes by planning tables of its own; they are mended where they cost much, so the least time
// stands for its choice.
const Candidate& chosen(const PricedKind& priced, double bytes) {
    return *std::min_element(
        priced.candidates.begin(), priced.candidates.end(),
        [&](const Candidate& a, const Candidate& b) { return a.seconds_of(bytes) < b.seconds_of(bytes); });
}

CollectivePrice price_group(const PricedGroup& group, CollectiveKind kind, Bytes bytes) {
    CollectivePrice price;
    price.transport = group.transport;
    const PricedKind& priced = group.kinds[static_cast<std::size_t>(kind)];
    if (priced.candidates.empty() || bytes.count() <= 0) return price;
    const auto size = static_cast<double>(bytes.count());
    const Candidate& best = chosen(priced, size);
    const double formula = best.seconds_of(size);
    price.algorithm = name_of(best.algorithm);
    price.protocol = name_of(best.protocol);
    price.channels = best.channels;
    price.measured = priced.curve != nullptr;
    price.bottleneck =
        formula < group.floor ? "the host's launch of the kernels" : std::string_view(best.link);
    price.seconds = Seconds(price.measured ? priced.curve->seconds(size) : std::max(formula, group.floor));
    const double factor = busbw_factor(kind, group.ranks);
    const double spread = price.measured ? kMeasuredSpread : best.soft ? kSoftSpread : kFirmSpread;
    price.algbw = bytes / price.seconds;
    price.busbw = price.algbw * factor;
    price.busbw_low = price.busbw / spread;
    price.busbw_high = price.busbw * spread;
    price.bound_busbw = BytesPerSecond(factor / priced.bound_seconds_per_byte);
    return price;
}

}  // namespace

CollectivePrice CollectivePricer::price(CollectiveKind kind, Bytes bytes) const {
    CollectivePrice slowest;
    for (const PricedGroup& group : state_->groups) {
        const CollectivePrice price = price_group(group, kind, bytes);
        if (price.seconds >= slowest.seconds) slowest = price;
    }
    return slowest;
}

std::optional<WireName> sampled_wire(const Machine& machine, const NcclEnvironment& environment,
                                     const std::vector<int>& gpus) {
    const std::vector<ServerView> views = views_of_servers(machine, {gpus});
    if (views.size() != 1) return std::nullopt;
    const std::vector<GroupRates> groups = rates_of_groups(machine, environment, views.front());
    if (groups.size() != 1) return std::nullopt;
    return wire_of(groups.front(), environment);
}

}  // namespace wirewise
