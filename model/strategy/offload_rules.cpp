#include "model/strategy/offload_rules.hpp"

#include "model/units/error.hpp"

namespace wirewise {

namespace {

std::optional<OffloadRefusal> deepspeed_refusal(const Sharding& sharding, const Offload& offload) {
    if (offload.optimizer && !sharding.optimizer)
        return OffloadRefusal{"DeepSpeed offloads the optimizer from ZeRO stage 1 on",
                              "write --strategy zero1, zero2 or zero3"};
    if (offload.parameters && !sharding.parameters)
        return OffloadRefusal{"DeepSpeed offloads parameters at ZeRO stage 3 only",
                              "write --strategy zero3, or --offload optimizer"};
    return std::nullopt;
}

std::optional<OffloadRefusal> pytorch_refusal(const Sharding& sharding, const Offload& offload) {
    if (!sharding.parameters)
        return OffloadRefusal{"PyTorch offloads with FSDP2 only",
                              "write --strategy fsdp, or --runtime deepspeed"};
    if (offload.optimizer != offload.parameters)
        return OffloadRefusal{"FSDP2's CPUOffloadPolicy moves parameters, gradients and optimizer together",
                              "write --offload optimizer,parameters"};
    return std::nullopt;
}

}  // namespace

std::optional<OffloadRefusal> offload_refusal(Runtime runtime, Strategy strategy, const Offload& offload) {
    if (!offload.any()) return std::nullopt;
    switch (runtime) {
        case Runtime::native:
            return OffloadRefusal{"our own runtime keeps everything on the GPU",
                                  "add --runtime deepspeed or --runtime pytorch, or leave it out"};
        case Runtime::pytorch:
            return pytorch_refusal(sharding_of(strategy), offload);
        case Runtime::deepspeed:
            return deepspeed_refusal(sharding_of(strategy), offload);
    }
    return std::nullopt;
}

void require_offload(const ParallelPlan& plan) {
    const auto refusal = offload_refusal(plan.runtime, plan.strategy, plan.offload);
    if (refusal) throw InputError("--offload", refusal->problem, refusal->remedy);
}

}  // namespace wirewise
