// One rank's side of the groups along the mesh axes, over host memory, whatever carries the bytes: threads of
// one process or sockets between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/program/program.hpp"

namespace wirewise {

// One member's side of a collective. `count`: elements of the full buffer (S of nccl-tests). In place where
// the member's part of the one lies within the other.
struct CollectiveCall {
    CollectiveKind kind = CollectiveKind::all_reduce;
    DType dtype = DType::fp32;
    std::int64_t count = 0;
    bool average = false;
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
};

class RankGroup {
  public:
    virtual ~RankGroup() = default;
    virtual int size() const = 0;
    virtual int member() const = 0;  // this rank's place in the group
    // Called by every member with the same kind, dtype and count; returns when the buffers may be reused.
    virtual void run(const CollectiveCall& call) = 0;
    virtual void send(int to, std::span<const std::byte> bytes) = 0;
    virtual void receive(int from, std::span<std::byte> bytes) = 0;
};

class RankGroups {
  public:
    virtual ~RankGroups() = default;
    virtual RankGroup& along(Axis axis) = 0;
};

}  // namespace wirewise
