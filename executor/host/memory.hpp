// One rank's memory: the planned arena, allocated once, and where each buffer lies in it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "model/program/memory_plan.hpp"

namespace wirewise {

class RankMemory {
  public:
    // `program`: the one that will run, by its place in the plan. Zeroed: the gaps between the tensors of a
    // flat buffer must hold zeros, for they are summed and updated too.
    RankMemory(const MemoryPlan& plan, std::size_t program);

    std::byte* at(BufferId buffer) const {
        const std::int64_t offset = offsets_[index_of(buffer)];
        return offset < 0 ? nullptr : arena_.get() + offset;
    }
    Bytes allocated() const { return allocated_; }

    // The buffer's twin in host memory: where copies to the host leave its bytes and copies from it find
    // them.
    std::byte* twin(BufferId buffer, Bytes bytes);

  private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::vector<std::int64_t> offsets_;  // by buffer
    Bytes allocated_;
    std::unique_ptr<std::byte[], Free> arena_;
    std::map<BufferId, std::vector<std::byte>> twins_;
};

}  // namespace wirewise
