#include "executor/ranks/socket_groups.hpp"

#include <algorithm>
#include <cstring>

#include "executor/training/convert.hpp"
#include "executor/training/ring_sum.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
    if (to != from && bytes > 0) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

std::span<std::byte> bytes_of(std::byte* buffer, RingPart part, std::int64_t width) {
    return {buffer + part.first * width, static_cast<std::size_t>(part.count * width)};
}

// What this member puts in: the first term where `came` is empty, else the sum that came with its own term
// added.
void put_in(const CollectiveCall& call, RingPart part, int members, std::span<const std::byte> came,
            std::byte* goes) {
    RingBlock sum, term;
    const std::int64_t width = size_of(call.dtype);
    for (std::int64_t at = 0; at < part.count; at += kRingBlock) {
        const auto length = static_cast<std::size_t>(std::min(kRingBlock, part.count - at));
        const std::span<float> total(sum.data(), length), addend(term.data(), length);
        load_term(call, part.first + at, members, came.empty() ? total : addend);
        if (!came.empty()) {
            widen(came.data() + at * width, call.dtype, total);
            add_term(call.dtype, addend, total);
        }
        narrow(total, call.dtype, goes + at * width);
    }
}

std::vector<int> ranks_along(Axis axis, int replicate, int shard, int rank) {
    std::vector<int> ranks;
    for (int other = 0; other < replicate * shard; ++other)
        if (axis == Axis::world || (axis == Axis::shard && other / shard == rank / shard) ||
            (axis == Axis::replicate && other % shard == rank % shard))
            ranks.push_back(other);
    return ranks;
}

}  // namespace

SocketGroup::SocketGroup(PeerLinks& links, std::vector<int> ranks) : links_(links), ranks_(std::move(ranks)) {
    const auto own = std::find(ranks_.begin(), ranks_.end(), links.rank());
    ensure(own != ranks_.end(), "a rank is a member of its groups");
    member_ = static_cast<int>(own - ranks_.begin());
}

// In hop h member m gets the sum of part m - 1 - h, adds its term and passes it on; the last one is its own.
void SocketGroup::reduce_own_part(const CollectiveCall& call, std::byte* to) {
    const std::int64_t width = size_of(call.dtype);
    const auto longest = static_cast<std::size_t>(ring_part(call.count, size(), 0).count * width);
    auto& [came, goes] = partial_;
    for (std::vector<std::byte>& sum : partial_)
        if (sum.size() < longest) sum.resize(longest);
    for (int hop = 0; hop < size(); ++hop) {
        const RingPart part = ring_part(call.count, size(), around(member_ - 1 - hop));
        const std::span<std::byte> sum(came.data(), static_cast<std::size_t>(part.count * width));
        if (hop > 0) {
            const RingPart sent = ring_part(call.count, size(), around(member_ - hop));
            links_.exchange(rank_of(around(member_ + 1)), bytes_of(goes.data(), {0, sent.count}, width),
                            rank_of(around(member_ - 1)), sum);
        }
        put_in(call, part, size(), hop > 0 ? sum : std::span<std::byte>(),
               hop == size() - 1 ? to : goes.data());
    }
}

// In hop h member m passes on part m - h and gets part m - 1 - h.
void SocketGroup::gather_parts(const CollectiveCall& call) {
    const std::int64_t width = size_of(call.dtype);
    for (int hop = 0; hop + 1 < size(); ++hop) {
        const RingPart goes = ring_part(call.count, size(), around(member_ - hop));
        const RingPart comes = ring_part(call.count, size(), around(member_ - 1 - hop));
        links_.exchange(rank_of(around(member_ + 1)), bytes_of(call.receive, goes, width),
                        rank_of(around(member_ - 1)), bytes_of(call.receive, comes, width));
    }
}

void SocketGroup::broadcast(const CollectiveCall& call) {
    const std::int64_t bytes = call.count * size_of(call.dtype);
    const std::span<std::byte> whole(call.receive, static_cast<std::size_t>(bytes));
    if (member_ == 0)
        copy_bytes(call.receive, call.send, bytes);
    else
        links_.receive(rank_of(member_ - 1), whole);
    if (member_ + 1 < size()) links_.send(rank_of(member_ + 1), whole);
}

void SocketGroup::all_to_all(const CollectiveCall& call) {
    const std::int64_t width = size_of(call.dtype);
    const std::vector<std::byte> sent(call.send, call.send + call.count * width);
    const auto part_for = [&](int member) {
        const RingPart part = ring_part(call.count, size(), member);
        return std::span(sent).subspan(static_cast<std::size_t>(part.first * width),
                                       static_cast<std::size_t>(part.count * width));
    };
    const std::int64_t each = ring_part(call.count, size(), member_).count;  // counts divide
    for (int distance = 0; distance < size(); ++distance) {
        const int to = around(member_ + distance), from = around(member_ - distance);
        const auto here = bytes_of(call.receive, {ring_part(call.count, size(), from).first, each}, width);
        if (distance == 0)
            std::copy(part_for(to).begin(), part_for(to).end(), here.begin());
        else
            links_.exchange(rank_of(to), part_for(to), rank_of(from), here);
    }
}

void SocketGroup::run(const CollectiveCall& call) {
    const std::int64_t width = size_of(call.dtype);
    const RingPart own = ring_part(call.count, size(), member_);
    switch (call.kind) {
        case CollectiveKind::all_reduce:
            reduce_own_part(call, call.receive + own.first * width);
            return gather_parts(call);
        case CollectiveKind::reduce_scatter:
            return reduce_own_part(call, call.receive);
        case CollectiveKind::all_gather:
            copy_bytes(call.receive + own.first * width, call.send, own.count * width);
            return gather_parts(call);
        case CollectiveKind::broadcast:
            return broadcast(call);
        case CollectiveKind::all_to_all:
            return all_to_all(call);
        case CollectiveKind::send_recv:
            ensure(false, "a send and a receive are ops of their own");
    }
}

SocketGroups::SocketGroups(PeerLinks& links, int replicate, int shard)
    : groups_{SocketGroup(links, ranks_along(Axis::replicate, replicate, shard, links.rank())),
              SocketGroup(links, ranks_along(Axis::shard, replicate, shard, links.rank())),
              SocketGroup(links, ranks_along(Axis::world, replicate, shard, links.rank()))} {}

}  // namespace wirewise
