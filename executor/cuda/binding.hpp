// What the ops of one rank are bound to: the ids of a StepProgram become addresses, streams, events, groups
// and constants.
#pragma once

#include <functional>
#include <vector>

#include "executor/cuda/device_groups.hpp"
#include "executor/cuda/feed.hpp"
#include "executor/cuda/libraries.hpp"
#include "executor/cuda/memory.hpp"
#include "executor/training/hyperparameters.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise::cuda {

// cosine, sine: [positions, pairs].
struct RopeTable {
    std::int64_t pairs = 0;
    const float *cosine = nullptr, *sine = nullptr;
};

struct RankBinding {
    const StepProgram& program;
    const Transformer& model;
    const ParallelPlan& plan;
    const Hyperparameters& numbers;
    RopeTable rope;
    RankMemory& memory;
    Libraries& libraries;
    DeviceGroups& groups;
    const BatchFeed& feed;
    const std::vector<Event>& events;  // of the program
    std::vector<Scratch>& scratch;     // by stream
    const std::int64_t& step;          // counts from 1
};

// An operand of a kernel.
struct Values {
    Array array;
    std::int64_t count = 0;
    bool adds = false;  // the kernel adds to what is there
    float* floats() const { return static_cast<float*>(array.data); }
    const std::int32_t* integers() const { return static_cast<const std::int32_t*>(array.data); }
};

// Puts the op's work into the stream.
using Work = std::function<void(cudaStream_t)>;

// What a kernel is bound with: the op for its layer, the scratch of its stream.
struct KernelSite {
    const RankBinding& binding;
    const Op& op;
    Scratch& scratch;
};
// The kernel's work on its operands, in the order that model/program/kernel.hpp gives. Throws InputError for
// a kernel that only other runtimes have.
Work bind_kernel(const KernelSite& site, const Kernel& kernel, const std::vector<Values>& operands);
Work bind_pointwise(const KernelSite& site, const Pointwise& kernel, const std::vector<Values>& operands);

// One op, ready to run. Empty work: the op only describes.
struct BoundOp {
    OpId op{};
    Work work;
};
std::vector<BoundOp> bind(const RankBinding& binding);

}  // namespace wirewise::cuda
