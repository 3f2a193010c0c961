#include "model/strategy/lower.hpp"

#include <fmt/format.h>

#include <limits>

#include "model/strategy/deepspeed/lower_deepspeed.hpp"
#include "model/strategy/native/lower_native.hpp"
#include "model/strategy/offload_rules.hpp"
#include "model/strategy/pytorch/lower_pytorch.hpp"
#include "model/units/error.hpp"

namespace wirewise {

StepProgram lower(const Transformer& model, const ParallelPlan& plan, Phase phase) {
    constexpr auto kMostMicroBatches = std::numeric_limits<decltype(Op::micro_batch)>::max();
    if (plan.gradient_accumulation > kMostMicroBatches)
        throw InputError(
            "--gradient-accumulation",
            fmt::format("{} micro-batches are too many for one step", plan.gradient_accumulation),
            fmt::format("write at most {}, or a smaller --global-batch", kMostMicroBatches));
    require_offload(plan);
    switch (plan.runtime) {
        case Runtime::native:
            return lower_native(model, plan, phase);
        case Runtime::pytorch:
            return lower_pytorch(model, plan, phase);
        case Runtime::deepspeed:
            return lower_deepspeed(model, plan, phase);
    }
    ensure(false, "a plan has a runtime");
    return {};
}

}  // namespace wirewise
