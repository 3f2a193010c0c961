#include "model/program/followed.hpp"

#include <algorithm>
#include <deque>

#include "model/program/stream_order.hpp"

namespace wirewise {

namespace {

// Ops that CUDA's launch queue holds: the host waits before it issues more (also RuntimeCosts::run_ahead).
constexpr std::size_t kQueued = 1000;

bool is_queued(const Op& op) {
    return !std::holds_alternative<HostWork>(op.payload) && !std::holds_alternative<Allocate>(op.payload) &&
           !std::holds_alternative<Release>(op.payload);
}

// What the host learns from the synchronisations it makes, and from the launch queue when it is full.
class HostKnowledge {
  public:
    explicit HostKnowledge(const StepProgram& program)
        : order_(program), last_work_(program.streams.size(), 0) {}

    // The latest point of the issue order that the host knows to be past, after this op.
    StreamOrder::Point after(const Op& op, std::size_t index) {
        order_.advance(op, index);
        const auto* work = std::get_if<HostWork>(&op.payload);
        if (work != nullptr && work->kind == HostWorkKind::synchronize) learn_from(op.stream);
        const bool waits = work != nullptr || std::holds_alternative<Record>(op.payload) ||
                           std::holds_alternative<Wait>(op.payload);
        if (!waits) last_work_[index_of(op.stream)] = static_cast<StreamOrder::Point>(index + 1);
        if (is_queued(op)) push(static_cast<StreamOrder::Point>(index + 1));
        return known_;
    }

  private:
    // A stream that only waits knows what it waited for.
    void learn_from(StreamId stream) {
        for (std::size_t s = 0; s < last_work_.size(); ++s)
            known_ = std::max(known_, s == index_of(stream) ? last_work_[s] : order_.known(stream)[s]);
    }

    void push(StreamOrder::Point op) {
        queue_.push_back(op);
        if (queue_.size() <= kQueued) return;
        known_ = std::max(known_, queue_.front());
        queue_.pop_front();
    }

    StreamOrder order_;
    std::deque<StreamOrder::Point> queue_;       // one more than each op that may wait to run
    std::vector<StreamOrder::Point> last_work_;  // by stream: one more than its last op that does something
    StreamOrder::Point known_ = 0;
};

}  // namespace

void wait_for_host(const StepProgram& program, Liveness& live) {
    std::vector<std::uint32_t> waiting;  // followed buffers, the last dropped first
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b)
        if (program.buffers[b].followed && live.dropped_at[b] != Liveness::kNever) {
            waiting.push_back(b);
            live.freed_at[b] = static_cast<std::uint32_t>(program.ops.size());
        }
    std::ranges::stable_sort(waiting, std::greater<>(), [&](std::uint32_t b) { return live.dropped_at[b]; });
    HostKnowledge host(program);
    for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
        const StreamOrder::Point known = host.after(program.ops[i], i);
        for (; !waiting.empty() && live.dropped_at[waiting.back()] < std::min(known, i); waiting.pop_back())
            live.freed_at[waiting.back()] = i;
    }
}

}  // namespace wirewise
