// The groups of one rank along the mesh axes, between processes: the sums of executor/training/ring_sum.hpp
// go around rings of connections. The shard axis varies fastest over ranks.
#pragma once

#include <array>
#include <vector>

#include "executor/ranks/peer_links.hpp"
#include "executor/training/rank_group.hpp"

namespace wirewise {

class SocketGroup final : public RankGroup {
  public:
    // `ranks` in the order of members, this one among them.
    SocketGroup(PeerLinks& links, std::vector<int> ranks);

    int size() const override { return static_cast<int>(ranks_.size()); }
    int member() const override { return member_; }
    void run(const CollectiveCall& call) override;
    void send(int to, std::span<const std::byte> bytes) override { links_.send(rank_of(to), bytes); }
    void receive(int from, std::span<std::byte> bytes) override { links_.receive(rank_of(from), bytes); }

  private:
    int rank_of(int member) const { return ranks_[static_cast<std::size_t>(member)]; }
    int around(int member) const { return (member % size() + size()) % size(); }
    void reduce_own_part(const CollectiveCall& call, std::byte* to);
    void gather_parts(const CollectiveCall& call);
    void broadcast(const CollectiveCall& call);
    void all_to_all(const CollectiveCall& call);

    PeerLinks& links_;
    std::vector<int> ranks_;
    int member_ = 0;
    std::array<std::vector<std::byte>, 2>
        partial_;  // sums on their way: the one that came, the one that goes
};

class SocketGroups final : public RankGroups {
  public:
    // `links` must outlive the groups.
    SocketGroups(PeerLinks& links, int replicate, int shard);
    RankGroup& along(Axis axis) override { return groups_[static_cast<std::size_t>(axis)]; }

  private:
    std::array<SocketGroup, kAxisCount> groups_;
};

}  // namespace wirewise
