#include "tools/export/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/units/error.hpp"

namespace wirewise {

namespace {

std::string visible_devices(const std::vector<int>& gpus) {
    return fmt::format("CUDA_VISIBLE_DEVICES={}", fmt::join(gpus, ","));
}

}  // namespace

void cannot_say(const char* launcher, const LaunchPlan& plan, const char* remedy) {
    throw InputError("--for " + std::string(launcher), fmt::format("has no {}", name_of(plan.plan.strategy)),
                     remedy);
}

void note_unsaid(const ParallelPlan& plan, const Vocabulary& words, Launch& launch) {
    const auto note = [&](bool wanted, bool said, const char* option) {
        if (wanted && !said)
            launch.unsaid.push_back(
                fmt::format("{} is not in the exported configuration: the script must do it", option));
    };
    note(plan.recompute == Recompute::full, words.full, "--recompute full");
    note(plan.recompute == Recompute::selective, words.selective, "--recompute selective");
    note(plan.recompute_every > 0, words.every, "--recompute-every");
    note(plan.compile, words.compile, "--compile");
    note(plan.loss.compiled, words.compile_loss, "--compile-loss");
}

Launch torchrun_launch(const LaunchPlan& plan) {
    const std::string where =
        plan.nodes == 1
            ? "--standalone"
            : fmt::format("--nnodes {} --rdzv-backend c10d --rdzv-endpoint $HEAD:29500", plan.nodes);
    Launch launch;
    launch.command = fmt::format("torchrun {} --nproc-per-node {} train.py", where, plan.gpus.size());
    launch.notes.push_back(
        fmt::format("torchrun starts the ranks only: train.py sets up {} with micro-batch {}, accumulation "
                    "{}, sequence {}",
                    name_of(plan.plan.strategy), plan.plan.micro_batch, plan.plan.gradient_accumulation,
                    plan.plan.sequence_length));
    note_unsaid(plan.plan, {}, launch);
    return launch;
}

Launch launch_for(const std::string& launcher, const LaunchPlan& plan) {
    Launch launch = launcher == "torchrun"     ? torchrun_launch(plan)
                    : launcher == "accelerate" ? accelerate_launch(plan)
                    : launcher == "deepspeed"  ? deepspeed_launch(plan)
                    : launcher == "torchtitan" ? torchtitan_launch(plan)
                    : launcher == "megatron"
                        ? megatron_launch(plan)
                        : throw InputError("--for", fmt::format("unknown launcher \"{}\"", launcher),
                                           "write torchrun, accelerate, deepspeed, torchtitan or megatron");
    launch.environment = {"CUDA_DEVICE_ORDER=PCI_BUS_ID", visible_devices(plan.gpus)};
    launch.environment.insert(launch.environment.end(), plan.nccl_environment.begin(),
                              plan.nccl_environment.end());
    return launch;
}

}  // namespace wirewise
