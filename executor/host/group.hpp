// One group of ranks in one process, and what its members do together. Sums run around the ring: the part
// that member r ends up with starts at member r + 1 and is added to, hop by hop, until it reaches r; every
// hop rounds to the dtype on the wire, and an average scales what each member puts in by 1 / n, as NCCL's
// ring does. Deterministic: no sum depends on timing.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "executor/host/gate.hpp"
#include "executor/training/rank_group.hpp"
#include "model/program/program.hpp"

namespace wirewise {

class Group {
  public:
    explicit Group(int ranks);

    int size() const { return static_cast<int>(calls_.size()); }
    // Called by every member with the same kind, dtype and count; returns when the member may reuse its
    // buffers.
    void run(int member, const CollectiveCall& call);
    // Leaves a message for `to`; waits while the one before it has not been taken.
    void send(int member, int to, std::span<const std::byte> bytes);
    void receive(int member, int from, std::span<std::byte> bytes);
    void close();

  private:
    struct Mailbox {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<std::byte> message;
        bool full = false, closed = false;
    };
    Mailbox& mailbox(int from, int to) { return *mailboxes_[static_cast<std::size_t>(from * size() + to)]; }
    void reduce_part(int member, int part, std::byte* to);
    void copy_parts(int member);

    Gate gate_;
    std::vector<CollectiveCall> calls_;  // by member
    std::vector<std::unique_ptr<Mailbox>> mailboxes_;
};

// The groups along the mesh axes: the shard axis varies fastest over ranks.
class Communicators {
  public:
    Communicators(int replicate, int shard);
    Group& group(Axis axis, int rank);
    int member(Axis axis, int rank) const;
    void close();

  private:
    int shard_;
    std::vector<std::unique_ptr<Group>> shard_groups_, replicate_groups_;
    Group world_;
};

}  // namespace wirewise
