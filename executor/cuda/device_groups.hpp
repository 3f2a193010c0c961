// This rank's groups along the mesh axes, over device memory: the calls take their place in a stream and
// return.
#pragma once

#include <memory>

#include "executor/cuda/handles.hpp"
#include "executor/training/rank_group.hpp"
#include "executor/training/rendezvous.hpp"

namespace wirewise::cuda {

// Ranks along the axes; the shard axis varies fastest over ranks.
struct GroupShape {
    int rank = 0, replicate = 1, shard = 1;
    int size(Axis axis) const;
    int member(Axis axis) const;
};

class DeviceGroups {
  public:
    explicit DeviceGroups(GroupShape shape) : shape_(shape) {}
    virtual ~DeviceGroups() = default;
    DeviceGroups(const DeviceGroups&) = delete;
    DeviceGroups& operator=(const DeviceGroups&) = delete;

    int size(Axis axis) const { return shape_.size(axis); }
    int member(Axis axis) const { return shape_.member(axis); }

    virtual void run(Axis axis, const CollectiveCall& call, cudaStream_t stream) = 0;
    virtual void send(Axis axis, int to, std::span<const std::byte> bytes, cudaStream_t stream) = 0;
    virtual void receive(Axis axis, int from, std::span<std::byte> bytes, cudaStream_t stream) = 0;
    // Throws for what failed since, on this rank or in the network.
    virtual void poll() {}
    // Frees those who wait in a call. Afterwards the groups are of no more use.
    virtual void abort() noexcept {}

  protected:
    const GroupShape& shape() const { return shape_; }

  private:
    GroupShape shape_;
};

// A rank alone: every collective is a copy at most.
std::unique_ptr<DeviceGroups> make_lone_groups();
// NCCL. Called by all ranks together; the device is current.
std::unique_ptr<DeviceGroups> make_nccl_groups(GroupShape shape, Rendezvous& rendezvous);
// Through host memory and `groups`: slow, for several ranks on one device.
std::unique_ptr<DeviceGroups> make_staged_groups(GroupShape shape, RankGroups& groups);

}  // namespace wirewise::cuda
