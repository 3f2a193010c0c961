#include "executor/host/rank_set.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "executor/host/kernels/gemm.hpp"
#include "executor/training/rope_frequencies.hpp"
#include "executor/training/supported.hpp"
#include "model/program/verify.hpp"
#include "model/strategy/lower.hpp"
#include "model/units/text.hpp"

namespace wirewise {

namespace {

host::RopeTable rope_of(const Transformer& model, const ParallelPlan& plan) {
    return host::rope_table(rope_frequencies(model, model.layer(0).attention.rotary_dim),
                            plan.sequence_length);
}

const Transformer& checked(const Transformer& model, const ParallelPlan& plan) {
    ensure_computed(model, plan);
    return model;
}

// One thread per rank that runs ops in issue order is only right for a program without faults.
StepProgram verified(StepProgram program) {
    const std::vector<Fault> faults = verify(program);
    ensure(faults.empty(), faults.empty() ? "" : faults.front().text);
    return program;
}

MemoryPlan planned(const StepProgram& load, const StepProgram& step, int ranks) {
    const StepProgram* const programs[] = {&load, &step};
    MemoryPlan memory = plan_memory(programs);
    const Bytes needed = (memory.bytes + bytes_of(scratch_floats(step), DType::fp32)) * ranks;
    const Bytes present = Bytes(sysconf(_SC_PAGESIZE)) * sysconf(_SC_PHYS_PAGES);
    if (needed > present)
        throw InputError("--gpus",
                         fmt::format("{} ranks need {} of memory; this machine has {}", ranks,
                                     to_text(needed), to_text(present)),
                         "run a smaller model, batch or number of ranks");
    return memory;
}

}  // namespace

RankSet::RankSet(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers)
    : RankSet(model, plan, numbers, nullptr) {}

RankSet::RankSet(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
                 const ProcessRank& own)
    : RankSet(model, plan, numbers, &own) {}

RankSet::RankSet(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
                 const ProcessRank* own)
    : model_(checked(model, plan)),
      plan_(plan),
      numbers_(numbers),
      program_(verified(lower(model_, plan_, Phase::steady_step))),
      memory_(planned(lower(model_, plan_, Phase::load), program_, own ? own->ranks_here : world())),
      rope_(rope_of(model_, plan_)),
      first_(own ? own->rank : 0),
      threads_(own ? nullptr : std::make_unique<ThreadGroups>(plan_.mesh.replicate, plan_.mesh.shard)),
      groups_(own ? &own->groups : nullptr),
      ranks_(own ? 1 : static_cast<std::size_t>(world())),
      team_(
          count(),
          [this] {
              if (threads_) threads_->close();
          },
          first_) {
    host::fix_gemm_blocking();
    // Each rank's memory is first touched by the thread that will use it.
    team_.run([this](int rank) {
        ranks_[static_cast<std::size_t>(rank - first_)] =
            std::make_unique<Rank>(program_, model_, plan_, numbers_, rope_, memory_, groups_of(rank), rank);
    });
}

}  // namespace wirewise
