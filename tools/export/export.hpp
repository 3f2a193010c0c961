// A plan in the words of other launchers: the command to type and the configuration files it reads.
#pragma once

#include <string>
#include <vector>

#include "model/strategy/plan.hpp"

namespace wirewise {

struct LaunchFile {
    std::string name, text;
};

struct Launch {
    std::vector<std::string> environment;  // "CUDA_VISIBLE_DEVICES=0,1"
    std::string command;
    std::vector<LaunchFile> files;
    std::vector<std::string> notes;   // what the script itself must do
    std::vector<std::string> unsaid;  // options of the plan that this launch leaves out
};

struct LaunchPlan {
    ParallelPlan plan;
    std::vector<int> gpus;  // of one node, in rank order
    int nodes = 1;
    std::vector<std::string> nccl_environment;
    std::string model;
};

// "torchrun", "accelerate", "deepspeed", "torchtitan", "megatron". Throws InputError for another name, and
// where that launcher cannot say the plan.
Launch launch_for(const std::string& launcher, const LaunchPlan& plan);

// One per launcher; each throws InputError for a strategy it has not.
Launch torchrun_launch(const LaunchPlan& plan);
Launch accelerate_launch(const LaunchPlan& plan);
Launch deepspeed_launch(const LaunchPlan& plan);
Launch torchtitan_launch(const LaunchPlan& plan);
Launch megatron_launch(const LaunchPlan& plan);

// What a launcher's own words can say of a plan.
struct Vocabulary {
    bool full = false, selective = false, every = false;  // recomputation
    bool compile = false, compile_loss = false;
};
void note_unsaid(const ParallelPlan& plan, const Vocabulary& words, Launch& launch);

[[noreturn]] void cannot_say(const char* launcher, const LaunchPlan& plan, const char* remedy);

}  // namespace wirewise
