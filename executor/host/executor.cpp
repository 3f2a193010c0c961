#include "executor/host/executor.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "executor/host/kernels/gemm.hpp"
#include "executor/host/rank.hpp"
#include "executor/host/rank_team.hpp"
#include "executor/training/convert.hpp"
#include "executor/training/rope_frequencies.hpp"
#include "executor/training/supported.hpp"
#include "model/strategy/lower.hpp"
#include "model/strategy/native/buffer_names.hpp"

namespace wirewise {

namespace {

std::optional<BufferId> find_buffer(const StepProgram& program, std::string_view name, std::int32_t layer) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
        if (program.buffers[i].name.text == name && program.buffers[i].name.layer == layer)
            return static_cast<BufferId>(i);
    return std::nullopt;
}

host::RopeTable rope_of(const Transformer& model, const ParallelPlan& plan) {
    if (model.position != PositionKind::rotary) return {};
    return host::rope_table(rope_frequencies(model, model.layer(0).attention.rotary_dim),
                            plan.sequence_length);
}

const Transformer& checked(const Transformer& model, const ParallelPlan& plan) {
    ensure_computed(model, plan);
    return model;
}

}  // namespace

class HostExecutor::State {
  public:
    State(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
          Observer observer)
        : model_(checked(model, plan)),
          plan_(plan),
          numbers_(numbers),
          observer_(std::move(observer)),
          program_(lower(model_, plan_, Phase::steady_step)),
          arena_(plan_arena(lower(model_, plan_, Phase::load), program_)),
          layout_(model_, plan_.mesh.shard),
          tensors_(unit_tensors(model_, layout_)),
          rope_(rope_of(model_, plan_)),
          communicators_(plan_.mesh.replicate, plan_.mesh.shard),
          ranks_(static_cast<std::size_t>(plan_.mesh.world())),
          team_(plan_.mesh.world(), [this] { communicators_.close(); }),
          job_([this](int rank) { rank_at(rank).run(step_, observer_.before_op); }) {
        host::fix_gemm_blocking();
        // Each rank's memory is first touched by the thread that will use it.
        team_.run([this](int rank) {
            ranks_[static_cast<std::size_t>(rank)] = std::make_unique<Rank>(
                program_, model_, plan_, numbers_, rope_, arena_, communicators_, rank);
        });
    }

    void load(const WeightSource& source) {
        for (int rank = 0; rank < plan_.mesh.world(); ++rank)
            for (const UnitTensor& tensor : tensors_)
                for (const std::string_view buffer : {native_buffer::parameters, native_buffer::master})
                    load(source, tensor, buffer, rank);
    }

    StepResult step(std::span<const std::int32_t> tokens) {
        const std::size_t each = tokens.size() / ranks_.size();
        ensure(each * ranks_.size() == tokens.size() &&
                   each ==
                       static_cast<std::size_t>(plan_.tokens_per_micro_batch() * plan_.gradient_accumulation),
               "a step's batch is what the plan says");
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
            ranks_[rank]->feed(tokens.subspan(rank * each, each));
        ++step_;
        const auto start = std::chrono::steady_clock::now();
        team_.run(job_);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return {scalar(native_buffer::loss), std::sqrt(scalar(native_buffer::squared_norm)),
                Seconds(elapsed.count())};
    }

    void read(TensorKind kind, const UnitTensor& tensor, std::span<float> values) const {
        ensure(static_cast<std::int64_t>(values.size()) == tensor.slice.count, "a whole tensor is read");
        for (int rank = 0; rank < plan_.mesh.shard; ++rank) {
            const auto held = holding(kind, tensor.unit, rank);
            copy_overlap(
                held, tensor.slice, [&](const std::byte* at, std::int64_t first, std::int64_t count) {
                    widen(at, held.dtype,
                          values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
                });
        }
    }

    const StepProgram& program() const { return program_; }
    const ArenaPlan& arena() const { return arena_; }
    const std::vector<UnitTensor>& tensors() const { return tensors_; }
    const Rank& rank_at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }
    Rank& rank_at(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }

  private:
    // Elements [first, first + count) of a unit's flat buffer, in one rank's memory.
    struct Holding {
        std::byte* data = nullptr;
        std::int64_t first = 0, count = 0;
        DType dtype = DType::fp32;
    };

    std::int64_t share(Unit unit) const { return layout_.of(unit).padded() / plan_.mesh.shard; }

    // A buffer of the unit; a short one is the rank's share.
    std::optional<Holding> find_holding(std::string_view buffer, Unit unit, int rank) const {
        const auto id = find_buffer(program_, buffer, unit.layer);
        if (!id) return std::nullopt;
        const Buffer& there = program_.at(*id);
        const std::int64_t count = there.bytes.count() / size_of(there.dtype);
        const bool whole = count == layout_.of(unit).padded();
        const std::int64_t first = whole ? 0 : count * communicators_.member(Axis::shard, rank);
        return Holding{rank_at(rank).memory().at(*id), first, count, there.dtype};
    }

    // What the rank holds for good of the unit's parameter or reduced gradient.
    Holding holding(TensorKind kind, Unit unit, int rank) const {
        if (kind == TensorKind::parameter) return *find_holding(native_buffer::parameters, unit, rank);
        if (const auto shard = find_holding(native_buffer::gradient_shard, unit, rank)) return *shard;
        Holding whole = *find_holding(native_buffer::gradients, unit, rank);
        if (!sharding_of(plan_.strategy).optimizer) return whole;
        const std::int64_t own = share(unit) * communicators_.member(Axis::shard, rank);  // ZeRO-1
        return {whole.data + own * size_of(whole.dtype), own, share(unit), whole.dtype};
    }

    // Calls use(address, first element of the tensor, count) for the part of the tensor that is held.
    template <class Use>
    static void copy_overlap(const Holding& held, Slice tensor, const Use& use) {
        const std::int64_t begin = std::max(held.first, tensor.offset);
        const std::int64_t end = std::min(held.first + held.count, tensor.offset + tensor.count);
        if (begin < end)
            use(held.data + (begin - held.first) * size_of(held.dtype), begin - tensor.offset, end - begin);
    }

    void load(const WeightSource& source, const UnitTensor& tensor, std::string_view buffer, int rank) {
        const auto held = find_holding(buffer, tensor.unit, rank);
        if (!held) return;
        std::vector<float> values;
        copy_overlap(*held, tensor.slice, [&](std::byte* at, std::int64_t first, std::int64_t count) {
            values.resize(static_cast<std::size_t>(count));
            source.read(tensor, first, values);
            narrow(values, held->dtype, at);
        });
    }

    double scalar(std::string_view buffer) const {
        float value = 0;
        widen(rank_at(0).memory().at(*find_buffer(program_, buffer, -1)), DType::fp32, std::span(&value, 1));
        return static_cast<double>(value);
    }

    const Transformer& model_;
    const ParallelPlan plan_;
    const Hyperparameters numbers_;
    const Observer observer_;
    const StepProgram program_;
    const ArenaPlan arena_;
    const ModelLayout layout_;
    const std::vector<UnitTensor> tensors_;
    const host::RopeTable rope_;
    Communicators communicators_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::int64_t step_ = 0;
    RankTeam team_;
    const std::function<void(int)> job_;
};

HostExecutor::HostExecutor(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
                           Observer observer)
    : state_(std::make_unique<State>(model, plan, numbers, std::move(observer))) {}
HostExecutor::~HostExecutor() = default;

const std::vector<UnitTensor>& HostExecutor::tensors() const { return state_->tensors(); }
void HostExecutor::load(const WeightSource& source) { state_->load(source); }
StepResult HostExecutor::step(std::span<const std::int32_t> tokens) { return state_->step(tokens); }
void HostExecutor::read(TensorKind kind, const UnitTensor& tensor, std::span<float> values) const {
    state_->read(kind, tensor, values);
}
const StepProgram& HostExecutor::program() const { return state_->program(); }
const Timeline& HostExecutor::timeline(int rank) const { return state_->rank_at(rank).timeline(); }
const MemoryPeak& HostExecutor::planned_peak() const { return state_->arena().peak; }
Bytes HostExecutor::planned_bytes() const { return state_->arena().total(); }
Bytes HostExecutor::allocated_bytes() const { return state_->rank_at(0).memory().allocated(); }

}  // namespace wirewise
