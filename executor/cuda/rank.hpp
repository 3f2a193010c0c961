// One rank on one GPU: its memory, its part of the batch, its ops bound to both, and when each of them ran.
#pragma once

#include <atomic>
#include <memory>

#include "executor/cuda/binding.hpp"
#include "model/program/memory_plan.hpp"
#include "model/program/timeline.hpp"

namespace wirewise::cuda {

class Rank {
  public:
    // The program is the last one of the memory plan. The device is current, here and in every call.
    Rank(const StepProgram& program, const Transformer& model, const ParallelPlan& plan,
         const Hyperparameters& numbers, const MemoryPlan& memory, std::unique_ptr<DeviceGroups> groups);
    Rank(const Rank&) = delete;  // its ops point into it
    Rank& operator=(const Rank&) = delete;

    // Chooses the fastest of the libraries' kernels; before weights are loaded, for it computes on random
    // values.
    void tune();

    void feed(std::span<const std::int32_t> tokens) { feed_.fill(tokens); }
    // Issues every op and waits for the last. `step` counts from 1. `watched`: the timeline gets a span per
    // op.
    void run(std::int64_t step, bool watched);

    // For benchmarks: small random parameters, and every op on its own.
    void fill_parameters();
    const std::vector<BoundOp>& ops() const { return ops_; }
    DeviceGroups& groups() const { return *groups_; }
    const RankMemory& memory() const { return memory_; }
    Bytes allocated() const;  // the arena, the scratch of the streams and the tables
    cudaStream_t stream(std::size_t index) const { return streams_[index].get(); }
    const Timeline& timeline() const { return timeline_; }
    // "step 3, backward, layer 1, down": the op that was issued last. Asked from any thread.
    std::string position() const;

  private:
    struct Mark {
        std::size_t op;
        Event begin, end;
    };
    RopeTable make_rope_table(const Transformer& model, std::int64_t positions);
    void make_names();
    void issue(std::size_t index);
    void issue_watched(std::size_t index, Mark& mark);
    void join_all();
    void wait();
    void read_marks();

    const StepProgram& program_;
    RankMemory memory_;
    std::unique_ptr<DeviceGroups> groups_;
    Libraries libraries_;
    BatchFeed feed_;
    DeviceMemory rope_;
    std::vector<Stream> streams_;
    std::vector<Event> events_;
    std::vector<Scratch> scratch_;
    std::int64_t step_ = 0;
    std::atomic<std::int64_t> issued_step_ = 0;
    std::atomic<std::size_t> issued_ = 0;
    std::vector<BoundOp> ops_;
    std::vector<std::string> names_;  // of ops, for profilers
    std::vector<Mark> marks_;         // of the ops that have work, made when first watched
    Event begin_, end_;
    Timeline timeline_;
};

}  // namespace wirewise::cuda
