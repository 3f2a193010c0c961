#include "executor/host/group.hpp"

#include <algorithm>
#include <cstring>

#include "executor/training/convert.hpp"
#include "executor/training/ring_sum.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
    if (to != from && bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

Group::Group(int ranks) : gate_(ranks), calls_(static_cast<std::size_t>(ranks)) {
    for (int i = 0; i < ranks * ranks; ++i) mailboxes_.push_back(std::make_unique<Mailbox>());
}

// Sums part `part` of all members' send buffers into `to`.
void Group::reduce_part(int member, int part, std::byte* to) {
    const CollectiveCall& own = calls_[static_cast<std::size_t>(member)];
    const RingPart range = ring_part(own.count, size(), part);
    RingBlock sum, next;
    for (std::int64_t at = 0; at < range.count; at += kRingBlock) {
        const auto length = static_cast<std::size_t>(std::min(kRingBlock, range.count - at));
        const std::span<float> total(sum.data(), length), addend(next.data(), length);
        for (int hop = 1; hop <= size(); ++hop) {
            const CollectiveCall& from = calls_[static_cast<std::size_t>((part + hop) % size())];
            load_term(from, range.first + at, size(), hop == 1 ? total : addend);
            if (hop > 1) add_term(own.dtype, addend, total);
        }
        narrow(total, own.dtype, to + at * size_of(own.dtype));
    }
}

// Every member's part of the receive buffers: member m holds part m.
void Group::copy_parts(int member) {
    const CollectiveCall& own = calls_[static_cast<std::size_t>(member)];
    const std::int64_t size_each = size_of(own.dtype);
    for (int step = 1; step < size(); ++step) {
        const int from = (member + step) % size();
        const RingPart range = ring_part(own.count, size(), from);
        copy_bytes(own.receive + range.first * size_each,
                   calls_[static_cast<std::size_t>(from)].receive + range.first * size_each,
                   range.count * size_each);
    }
}

void Group::run(int member, const CollectiveCall& call) {
    calls_[static_cast<std::size_t>(member)] = call;
    const std::int64_t width = size_of(call.dtype);
    const RingPart own = ring_part(call.count, size(), member);
    const bool gathers = call.kind == CollectiveKind::all_gather;
    if (gathers) copy_bytes(call.receive + own.first * width, call.send, own.count * width);
    gate_.pass();
    switch (call.kind) {
        case CollectiveKind::all_reduce:
            // Only this member touches part `member` of any buffer until the gate.
            reduce_part(member, member, call.receive + own.first * width);
            gate_.pass();
            copy_parts(member);
            break;
        case CollectiveKind::reduce_scatter:
            reduce_part(member, member, call.receive);
            break;
        case CollectiveKind::all_gather:
            copy_parts(member);
            break;
        case CollectiveKind::broadcast:
            copy_bytes(call.receive, calls_[0].send, call.count * width);
            break;
        case CollectiveKind::all_to_all:
            for (int from = 0; from < size(); ++from)
                copy_bytes(call.receive + ring_part(call.count, size(), from).first * width,
                           calls_[static_cast<std::size_t>(from)].send + own.first * width,
                           own.count * width);
            break;
        case CollectiveKind::send_recv:
            ensure(false, "a send and a receive are ops of their own");
    }
    gate_.pass();
}

void Group::send(int member, int to, std::span<const std::byte> bytes) {
    Mailbox& box = mailbox(member, to);
    std::unique_lock lock(box.mutex);
    box.changed.wait(lock, [&] { return box.closed || !box.full; });
    if (box.closed) throw PeerFailed();
    box.message.assign(bytes.begin(), bytes.end());
    box.full = true;
    box.changed.notify_all();
}

void Group::receive(int member, int from, std::span<std::byte> bytes) {
    Mailbox& box = mailbox(from, member);
    std::unique_lock lock(box.mutex);
    box.changed.wait(lock, [&] { return box.closed || box.full; });
    if (box.closed) throw PeerFailed();
    ensure(box.message.size() == bytes.size(), "a message has the size that its receiver expects");
    std::copy(box.message.begin(), box.message.end(), bytes.begin());
    box.full = false;
    box.changed.notify_all();
}

void Group::close() {
    gate_.close();
    for (const auto& box : mailboxes_) {
        const std::lock_guard lock(box->mutex);
        box->closed = true;
        box->changed.notify_all();
    }
}

ThreadGroups::ThreadGroups(int replicate, int shard) : shard_(shard), world_(replicate * shard) {
    for (int i = 0; i < replicate; ++i) shard_groups_.push_back(std::make_unique<Group>(shard));
    for (int i = 0; i < shard; ++i) replicate_groups_.push_back(std::make_unique<Group>(replicate));
    for (int rank = 0; rank < replicate * shard; ++rank) ranks_.push_back(members_of(rank));
}

ThreadGroups::Memberships ThreadGroups::members_of(int rank) {
    return Memberships({Member(*replicate_groups_[static_cast<std::size_t>(rank % shard_)], rank / shard_),
                        Member(*shard_groups_[static_cast<std::size_t>(rank / shard_)], rank % shard_),
                        Member(world_, rank)});
}

void ThreadGroups::close() {
    for (const auto& group : shard_groups_) group->close();
    for (const auto& group : replicate_groups_) group->close();
    world_.close();
}

}  // namespace wirewise
