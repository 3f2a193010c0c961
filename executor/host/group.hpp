// Groups of ranks that are threads of one process: members read one another's buffers. Sums are those of
// executor/training/ring_sum.hpp.
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
class ThreadGroups {
  public:
    ThreadGroups(int replicate, int shard);
    ThreadGroups(const ThreadGroups&) = delete;
    ThreadGroups& operator=(const ThreadGroups&) = delete;

    RankGroups& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    // Those who wait are turned away with PeerFailed.
    void close();

  private:
    class Member final : public RankGroup {
      public:
        Member(Group& group, int member) : group_(&group), member_(member) {}
        int size() const override { return group_->size(); }
        int member() const override { return member_; }
        void run(const CollectiveCall& call) override { group_->run(member_, call); }
        void send(int to, std::span<const std::byte> bytes) override { group_->send(member_, to, bytes); }
        void receive(int from, std::span<std::byte> bytes) override { group_->receive(member_, from, bytes); }

      private:
        Group* group_;
        int member_;
    };
    struct Memberships final : RankGroups {
        explicit Memberships(std::array<Member, kAxisCount> all) : along_axis(all) {}
        RankGroup& along(Axis axis) override { return along_axis[static_cast<std::size_t>(axis)]; }
        std::array<Member, kAxisCount> along_axis;
    };
    Memberships members_of(int rank);

    int shard_;
    std::vector<std::unique_ptr<Group>> shard_groups_, replicate_groups_;
    Group world_;
    std::vector<Memberships> ranks_;
};

}  // namespace wirewise
