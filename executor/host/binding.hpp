// What the ops of one rank are bound to: the ids of a StepProgram become addresses, groups and constants.
#pragma once

#include <functional>
#include <vector>

#include "executor/host/kernels/rope.hpp"
#include "executor/host/memory.hpp"
#include "executor/training/hyperparameters.hpp"
#include "executor/training/rank_group.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

// One rank's part of a batch, by micro-batch: what its copies from host memory bring.
struct BatchFeed {
    std::vector<std::int32_t> tokens, targets;
};

struct RankBinding {
    const StepProgram& program;
    const Transformer& model;
    const ParallelPlan& plan;
    const Hyperparameters& numbers;
    const host::RopeTable& rope;
    RankMemory& memory;
    RankGroups& groups;
    const BatchFeed& feed;
    const std::int64_t& step;  // counts from 1
    float* scratch = nullptr;  // of scratch_floats()
};

// The address range of an operand, the rank's own share resolved.
struct Place {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    DType dtype = DType::fp32;
    std::int64_t count() const { return bytes / size_of(dtype); }
};
Place place_of(const RankBinding& binding, const Operand& operand);

// An operand of a kernel as fp32 values: in place, or a widened copy in the scratch.
struct Values {
    float* data = nullptr;
    std::int64_t count = 0;
    bool adds = false;                       // the kernel adds to what is there
    const std::int32_t* integers = nullptr;  // of token ids
};

using Work = std::function<void()>;
// The kernel's work on its operands, in the order that model/program/kernel.hpp gives. `scratch` is what is
// left of the rank's scratch. Throws InputError for a kernel that only other runtimes have.
Work bind_kernel(const RankBinding& binding, const Op& op, const Kernel& kernel, std::vector<Values> operands,
                 float* scratch);
Work bind_pointwise(const RankBinding& binding, const Op& op, const Pointwise& kernel,
                    const std::vector<Values>& operands);

// One op, ready to run. Empty work: the op orders or describes, and one thread in issue order need not act.
struct BoundOp {
    OpId op{};
    Work work;
};

// Floats of scratch that the widest op of the program needs: what stands in for registers and shared memory.
std::int64_t scratch_floats(const StepProgram& program);
std::vector<BoundOp> bind(const RankBinding& binding);

}  // namespace wirewise
