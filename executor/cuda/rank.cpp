#include "executor/cuda/rank.hpp"

#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "executor/cuda/kernels/elementwise.hpp"
#include "executor/training/rope_frequencies.hpp"

namespace wirewise::cuda {

namespace {

using Clock = std::chrono::steady_clock;

Instant since(Clock::time_point start) {
    return Instant(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count() * 1000);
}

// Ops that take time on a stream.
bool takes_time(const Op& op) {
    return std::visit(Overloaded{[](const Compute&) { return true; }, [](const Collective&) { return true; },
                                 [](const Send&) { return true; }, [](const Receive&) { return true; },
                                 [](const Copy&) { return true; }, [](const Record&) { return false; },
                                 [](const Wait&) { return false; }, [](const Allocate&) { return false; },
                                 [](const Release&) { return false; }, [](const HostWork&) { return false; }},
                      op.payload);
}

Instant between(const Event& begin, const Event& end) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    return Instant(static_cast<std::int64_t>(std::llround(static_cast<double>(milliseconds) * 1e9)));
}

}  // namespace

Rank::Rank(const StepProgram& program, const Transformer& model, const ParallelPlan& plan,
           const Hyperparameters& numbers, const MemoryPlan& memory, std::unique_ptr<DeviceGroups> groups)
    : program_(program),
      memory_(memory, memory.offsets.size() - 1),
      groups_(std::move(groups)),
      feed_(plan.tokens_per_micro_batch() * plan.gradient_accumulation, plan.sequence_length),
      scratch_(program.streams.size()),
      begin_(make_event(true)),
      end_(make_event(true)) {
    for (const wirewise::Stream& stream : program.streams)
        streams_.push_back(make_stream(stream.kind == StreamKind::communication));
    for (std::uint32_t i = 0; i < program.event_count; ++i) events_.push_back(make_event(false));
    const RopeTable rope = make_rope_table(model, plan.sequence_length);
    ops_ = bind({program, model, plan, numbers, rope, memory_, libraries_, *groups_, feed_, events_, scratch_,
                 step_});
    for (Scratch& scratch : scratch_) scratch.allocate();
    make_names();
}

// Angles are fp32 products of position and frequency, as the reference takes them.
RopeTable Rank::make_rope_table(const Transformer& model, std::int64_t positions) {
    if (model.position != PositionKind::rotary) return {};
    const std::vector<float> frequencies = rope_frequencies(model, model.layer(0).attention.rotary_dim);
    std::vector<float> cosine, sine;
    for (std::int64_t position = 0; position < positions; ++position)
        for (const float frequency : frequencies) {
            cosine.push_back(std::cos(static_cast<float>(position) * frequency));
            sine.push_back(std::sin(static_cast<float>(position) * frequency));
        }
    const std::size_t bytes = cosine.size() * sizeof(float);
    rope_ = DeviceMemory(2 * bytes);
    check(cudaMemcpy(rope_.data(), cosine.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(rope_.data() + bytes, sine.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return {static_cast<std::int64_t>(frequencies.size()), reinterpret_cast<const float*>(rope_.data()),
            reinterpret_cast<const float*>(rope_.data() + bytes)};
}

void Rank::make_names() {
    for (std::size_t i = 0; i < ops_.size(); ++i)
        names_.push_back(fmt::format("{} {}", i, wirewise::place_of(program_.ops[i])));
}

void Rank::tune() {
    constexpr std::size_t kCompute = 0;
    if (scratch_[kCompute].bytes() < Bytes(static_cast<std::int64_t>(kGemmWorkspace))) return;
    libraries_.tune(scratch_[kCompute].data(), streams_[kCompute].get());
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    memory_.clear();
}

void Rank::fill_parameters() {
    constexpr double kDeviation = 0.02;
    std::uint64_t stream = 1;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        const Buffer& buffer = program_.buffers[i];
        const bool holds = buffer.role == Role::parameter || buffer.role == Role::master_parameter;
        std::byte* const data = memory_.at(static_cast<BufferId>(i));
        if (!holds || !data) continue;
        fill_normal({data, buffer.dtype}, buffer.bytes.count() / size_of(buffer.dtype), kDeviation, stream++,
                    0, streams_.front().get());
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

Bytes Rank::allocated() const {
    Bytes sum = memory_.allocated() + Bytes(static_cast<std::int64_t>(rope_.size()));
    for (const Scratch& scratch : scratch_) sum += scratch.bytes();
    return sum;
}

void Rank::issue(std::size_t index) {
    const BoundOp& bound = ops_[index];
    if (!bound.work) return;
    issued_.store(index, std::memory_order_relaxed);
    nvtxRangePushA(names_[index].c_str());
    bound.work(streams_[index_of(program_.ops[index].stream)].get());
    nvtxRangePop();
}

void Rank::issue_watched(std::size_t index, Mark& mark) {
    const cudaStream_t stream = streams_[index_of(program_.ops[index].stream)].get();
    check(cudaEventRecord(mark.begin.get(), stream), "cudaEventRecord");
    issue(index);
    check(cudaEventRecord(mark.end.get(), stream), "cudaEventRecord");
}

// The end lies behind everything that any stream was given.
void Rank::join_all() {
    const cudaStream_t last = streams_.front().get();
    for (std::size_t i = 1; i < streams_.size(); ++i) {
        const Event done = make_event(false);
        check(cudaEventRecord(done.get(), streams_[i].get()), "cudaEventRecord");
        check(cudaStreamWaitEvent(last, done.get(), 0), "cudaStreamWaitEvent");
    }
    check(cudaEventRecord(end_.get(), last), "cudaEventRecord");
}

std::string Rank::position() const {
    const std::int64_t step = issued_step_.load(std::memory_order_relaxed);
    if (step == 0) return {};
    const Op& op = program_.ops[issued_.load(std::memory_order_relaxed)];
    return fmt::format("step {}, {}", step - 1, wirewise::place_of(op));
}

// A failed peer shows in the groups, not in the events.
void Rank::wait() {
    constexpr auto kPause = std::chrono::microseconds(20);
    for (;;) {
        const cudaError_t state = cudaEventQuery(end_.get());
        if (state == cudaSuccess) return;
        if (state != cudaErrorNotReady) check(state, "cudaEventQuery, at the end of the step");
        groups_->poll();
        std::this_thread::sleep_for(kPause);
    }
}

void Rank::run(std::int64_t step, bool watched) {
    step_ = step;
    issued_step_.store(step, std::memory_order_relaxed);
    timeline_.spans.clear();
    if (watched && marks_.empty())
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (takes_time(program_.ops[i])) marks_.push_back({i, make_event(true), make_event(true)});
    const Clock::time_point start = Clock::now();
    check(cudaEventRecord(begin_.get(), streams_.front().get()), "cudaEventRecord");
    std::size_t next = 0;
    for (std::size_t i = 0; i < ops_.size(); ++i)
        if (watched && next < marks_.size() && marks_[next].op == i)
            issue_watched(i, marks_[next++]);
        else
            issue(i);
    join_all();
    timeline_.host_end = timeline_.host_busy = since(start);
    wait();
    issued_step_.store(0, std::memory_order_relaxed);  // a long save is no step that hangs
    timeline_.end = since(start);
    if (watched) read_marks();
}

void Rank::read_marks() {
    for (const Mark& mark : marks_)
        timeline_.spans.push_back({static_cast<OpId>(mark.op), program_.ops[mark.op].stream,
                                   between(begin_, mark.begin), between(begin_, mark.end)});
    std::stable_sort(timeline_.spans.begin(), timeline_.spans.end(),
                     [](const Span& a, const Span& b) { return a.begin < b.begin; });
}

}  // namespace wirewise::cuda
