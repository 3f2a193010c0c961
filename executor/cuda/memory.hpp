// One rank's device memory: the planned arena, allocated once, and where each buffer lies in it; beside it
// the scratch of each stream and the twins of buffers in host memory.
#pragma once

#include <map>
#include <vector>

#include "executor/cuda/handles.hpp"
#include "model/program/memory_plan.hpp"

namespace wirewise::cuda {

class RankMemory {
  public:
    // `program`: the one that will run, by its place in the plan. Zeroed: the gaps between the tensors of a
    // flat buffer must hold zeros, for they are summed and updated too.
    RankMemory(const MemoryPlan& plan, std::size_t program);

    std::byte* at(BufferId buffer) const {
        const std::int64_t offset = offsets_[index_of(buffer)];
        return offset < 0 ? nullptr : arena_.data() + offset;
    }
    Bytes allocated() const { return Bytes(static_cast<std::int64_t>(arena_.size())); }
    void clear();

    // Where copies to the host leave a buffer's bytes and copies from it find them.
    std::byte* twin(BufferId buffer, Bytes bytes);

  private:
    std::vector<std::int64_t> offsets_;  // by buffer
    DeviceMemory arena_;
    std::map<BufferId, PinnedMemory> twins_;
};

// What kernels of one stream use for the length of their own run: its size is what the hungriest of them asks
// for while ops are bound, its address is known afterwards.
class Scratch {
  public:
    void need(std::int64_t bytes) { wanted_ = bytes > wanted_ ? bytes : wanted_; }
    void allocate() { memory_ = DeviceMemory(static_cast<std::size_t>(wanted_)); }
    void* data() const { return memory_.data(); }
    float* floats() const { return reinterpret_cast<float*>(memory_.data()); }
    Bytes bytes() const { return Bytes(wanted_); }

  private:
    std::int64_t wanted_ = 0;
    DeviceMemory memory_;
};

}  // namespace wirewise::cuda
