// Do the programs of a group's ranks fit together: the same collectives in the same order, each send
// received.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "model/program/verify.hpp"

namespace wirewise {

namespace {

using OpList = std::vector<std::uint32_t>;

bool same(const Collective& a, const Collective& b) {
    return a.kind == b.kind && a.axis == b.axis && a.dtype == b.dtype && a.bytes == b.bytes &&
           a.average == b.average;
}

std::string text_of(const Collective& call) {
    return fmt::format("{} of {} B {}{}", name_of(call.kind), call.bytes.count(), name_of(call.dtype),
                       call.average ? " average" : "");
}

OpList collectives_on(const StepProgram& program, Axis axis) {
    OpList found;
    for (std::size_t i = 0; i < program.ops.size(); ++i)
        if (const auto* call = std::get_if<Collective>(&program.ops[i].payload); call && call->axis == axis)
            found.push_back(static_cast<std::uint32_t>(i));
    return found;
}

Fault mismatch(std::size_t op, std::string text) {
    return {FaultKind::collective_mismatch, static_cast<OpId>(op), std::move(text)};
}

// Only the first difference: what follows it is shifted.
void compare(const StepProgram& first, const StepProgram& other, std::size_t rank, Axis axis,
             std::vector<Fault>& faults) {
    const OpList a = collectives_on(first, axis), b = collectives_on(other, axis);
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
        const auto& call = std::get<Collective>(first.ops[a[k]].payload);
        const auto& theirs = std::get<Collective>(other.ops[b[k]].payload);
        if (same(call, theirs)) continue;
        faults.push_back(mismatch(
            b[k], fmt::format("rank {} op {} ({}): collective {} on axis {} is {}, on rank 0 {}", rank, b[k],
                              place_of(other.ops[b[k]]), k, name_of(axis), text_of(theirs), text_of(call))));
        return;
    }
    if (a.size() != b.size())
        faults.push_back(
            mismatch(other.ops.size(), fmt::format("rank {}: {} collectives on axis {}, on rank 0 {}", rank,
                                                   b.size(), name_of(axis), a.size())));
}

// Messages of one rank to (or from) the rank `offset` further along an axis, in order.
using Messages = std::map<std::pair<Axis, std::size_t>, std::vector<std::pair<Bytes, std::uint32_t>>>;

std::size_t peer_of(std::size_t rank, std::int32_t offset, std::size_t ranks) {
    const auto n = static_cast<std::int64_t>(ranks);
    return static_cast<std::size_t>(((static_cast<std::int64_t>(rank) + offset) % n + n) % n);
}

template <class Kind>
Messages messages(const StepProgram& program, std::size_t rank, std::size_t ranks) {
    Messages found;
    for (std::size_t i = 0; i < program.ops.size(); ++i)
        if (const auto* message = std::get_if<Kind>(&program.ops[i].payload))
            found[{message->axis, peer_of(rank, message->peer_offset, ranks)}].emplace_back(
                message->bytes, static_cast<std::uint32_t>(i));
    return found;
}

// Every message that `rank` sends to `peer` must be received there in the same order, and no more than those.
void match(std::size_t rank, std::size_t peer, Axis axis, const Messages& sent, const Messages& received,
           std::vector<Fault>& faults) {
    const auto out = sent.find({axis, peer});
    const auto in = received.find({axis, rank});
    const std::size_t sends = out == sent.end() ? 0 : out->second.size();
    const std::size_t receives = in == received.end() ? 0 : in->second.size();
    for (std::size_t k = 0; k < std::min(sends, receives); ++k) {
        const auto [bytes, op] = out->second[k];
        if (bytes == in->second[k].first) continue;
        faults.push_back(mismatch(
            op, fmt::format("rank {} op {}: sends {} B to rank {}, which expects {} B in op {}", rank, op,
                            bytes.count(), peer, in->second[k].first.count(), in->second[k].second)));
        return;
    }
    if (sends != receives)
        faults.push_back(
            mismatch(sends > receives ? out->second[receives].second : in->second[sends].second,
                     fmt::format("rank {} sends {} messages to rank {} on axis {}, which receives {}", rank,
                                 sends, peer, name_of(axis), receives)));
}

}  // namespace

std::vector<Fault> verify_group(std::span<const StepProgram* const> ranks) {
    constexpr std::array<Axis, kAxisCount> axes{Axis::replicate, Axis::shard, Axis::world};
    std::vector<Fault> faults;
    for (std::size_t rank = 1; rank < ranks.size(); ++rank)
        for (const Axis axis : axes) compare(*ranks[0], *ranks[rank], rank, axis, faults);

    std::vector<Messages> sent, received;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        sent.push_back(messages<Send>(*ranks[rank], rank, ranks.size()));
        received.push_back(messages<Receive>(*ranks[rank], rank, ranks.size()));
    }
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
        for (std::size_t peer = 0; peer < ranks.size(); ++peer)
            for (const Axis axis : axes) match(rank, peer, axis, sent[rank], received[peer], faults);
    std::stable_sort(faults.begin(), faults.end(),
                     [](const Fault& a, const Fault& b) { return index_of(a.op) < index_of(b.op); });
    return faults;
}

}  // namespace wirewise
