// Every family that can be read can be lowered: sound programs, every weight with a gradient and an update.
#include <gtest/gtest.h>

#include "model/program/verify.hpp"
#include "model/strategy/lower.hpp"
#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

// Two layers of every kind.
Transformer shortened(Transformer model) {
    model.layers.clear();
    for (std::size_t kind = 0; kind < 2 * model.kinds.size(); ++kind)
        model.layers.push_back(static_cast<std::uint16_t>(kind / 2));
    return model;
}

TEST(Families, AllBuiltinModels) {
    for (const BuiltinModel& builtin : builtin_models()) {
        const Transformer model = shortened(load_model(builtin.name));
        for (const Strategy strategy : {Strategy::single, Strategy::ddp, Strategy::fsdp})
            for (const bool compile : {false, true}) {
                ParallelPlan plan;
                plan.runtime = Runtime::pytorch;
                plan.strategy = strategy;
                plan.mesh = mesh_for(strategy, strategy == Strategy::single ? 1 : 2, 0);
                plan.sequence_length = 128;
                plan.compile = compile;
                plan.recompute = Recompute::none;
                const std::vector<Fault> faults = verify(lower(model, plan, Phase::steady_step));
                if (!faults.empty())
                    ADD_FAILURE() << builtin.name << ", " << name_of(strategy) << ": " << faults.front().text;
            }
    }
}

// Windows shorter than the sequence come as mask tensors; fp32 keeps grouped queries off the fused kernels.
TEST(Families, MasksAndFp32Attention) {
    for (const char* name : {"gemma-3-1b", "starcoder2-3b", "falcon-7b", "falcon-40b"})
        for (const DType type : {DType::bf16, DType::fp32})
            for (const Recompute recompute : {Recompute::none, Recompute::full}) {
                Transformer model = shortened(load_model(name));
                for (Layer& kind : model.kinds)
                    if (kind.attention.window > 0) kind.attention.window = 64;
                ParallelPlan plan;
                plan.runtime = Runtime::pytorch;
                plan.sequence_length = 128;
                plan.precision = {type, type, type, type, type, false};
                plan.recompute = recompute;
                const std::vector<Fault> faults = verify(lower(model, plan, Phase::steady_step));
                if (!faults.empty()) ADD_FAILURE() << name << ": " << faults.front().text;
            }
}

}  // namespace
}  // namespace wirewise
