#include "model/program/liveness.hpp"

#include <algorithm>
#include <utility>

#include "model/program/followed.hpp"
#include "model/program/stream_order.hpp"

namespace wirewise {

namespace {

// Buffers that the host has dropped, waiting until their home stream is known to follow their uses on other
// streams. One min-heap per (home, other stream), keyed by the use: news about one stream touches only what
// it sets free.
class Pending {
  public:
    explicit Pending(std::size_t streams) : streams_(streams), heaps_(streams * streams) {}

    void add(StreamId home, std::size_t other, std::uint32_t use, std::uint32_t buffer) {
        auto& heap = heaps_[index_of(home) * streams_ + other];
        heap.emplace_back(use, buffer);
        std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }

    // Hands every buffer whose awaited use is covered to `covered(buffer)`, which may add it again for
    // another stream.
    template <class Covered>
    void drain(const StreamOrder& order, Covered&& covered) {
        for (std::size_t i = 0; i < heaps_.size(); ++i) {
            auto& heap = heaps_[i];
            const StreamOrder::Point known = order.known(static_cast<StreamId>(i / streams_))[i % streams_];
            while (!heap.empty() && heap.front().first < known) {
                const std::uint32_t buffer = heap.front().second;
                std::pop_heap(heap.begin(), heap.end(), std::greater<>());
                heap.pop_back();
                covered(buffer);
            }
        }
    }

  private:
    std::size_t streams_;
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> heaps_;  // (use, buffer)
};

class LivenessScan {
  public:
    explicit LivenessScan(const StepProgram& program)
        : program_(program),
          streams_(program.streams.size()),
          order_(program),
          pending_(streams_),
          last_mention_(program.buffers.size(), Liveness::kNever),
          last_use_(program.free_rule == FreeRule::after_join ? program.buffers.size() * streams_ : 0, 0) {
        live_.born_at.assign(program.buffers.size(), Liveness::kNever);
        live_.freed_at.assign(program.buffers.size(), Liveness::kNever);
    }

    Liveness run() && {
        find_mentions();
        if (program_.free_rule == FreeRule::at_last_use)
            live_.freed_at = last_mention_;
        else
            for (std::size_t i = 0; i < program_.ops.size(); ++i) follow(i);
        live_.dropped_at = live_.freed_at;
        return std::move(live_);
    }

  private:
    // First mentions, and the last ones of the buffers that this program lets go.
    void find_mentions() {
        const auto ops = static_cast<std::uint32_t>(program_.ops.size());
        for (std::uint32_t i = 0; i < ops; ++i) {
            const bool releases = std::holds_alternative<Release>(program_.ops[i].payload);
            for (const Operand& operand : program_.operands_of(program_.ops[i])) {
                const std::size_t b = index_of(operand.buffer);
                if (live_.born_at[b] == Liveness::kNever && !releases) live_.born_at[b] = i;
                if (releases || program_.buffers[b].lifetime == Lifetime::transient) last_mention_[b] = i;
            }
        }
    }

    void follow(std::size_t index) {
        const Op& op = program_.ops[index];
        const bool learnt = order_.advance(op, index);
        const auto now = static_cast<std::uint32_t>(index);
        const bool host_only =
            std::holds_alternative<Allocate>(op.payload) || std::holds_alternative<Release>(op.payload);
        for (const Operand& operand : program_.operands_of(op)) {
            const auto b = static_cast<std::uint32_t>(index_of(operand.buffer));
            if (!host_only) last_use_[b * streams_ + index_of(op.stream)] = now + 1;
        }
        for (const Operand& operand : program_.operands_of(op)) {
            const auto b = static_cast<std::uint32_t>(index_of(operand.buffer));
            if (last_mention_[b] == now && live_.freed_at[b] == Liveness::kNever) drop(b, now);
        }
        if (learnt) pending_.drain(order_, [&](std::uint32_t b) { drop(b, now); });
    }

    // Frees the buffer now if its home stream follows all its uses; else at the join, or at the program's
    // end.
    void drop(std::uint32_t buffer, std::uint32_t now) {
        const StreamId home = program_.buffers[buffer].home;
        const StreamOrder::Point* known = order_.known(home);
        for (std::size_t s = 0; s < streams_; ++s) {
            const std::uint32_t use = last_use_[buffer * streams_ + s];
            if (s == index_of(home) || use <= known[s]) continue;
            live_.freed_at[buffer] = static_cast<std::uint32_t>(program_.ops.size());
            return pending_.add(home, s, use - 1, buffer);
        }
        live_.freed_at[buffer] = now;
    }

    const StepProgram& program_;
    std::size_t streams_;
    StreamOrder order_;
    Pending pending_;
    std::vector<std::uint32_t> last_mention_;
    std::vector<std::uint32_t> last_use_;  // buffer x stream: one more than the op; 0: none
    Liveness live_;
};

}  // namespace

Liveness liveness(const StepProgram& program) {
    Liveness live = LivenessScan(program).run();
    if (std::ranges::any_of(program.buffers, &Buffer::followed)) wait_for_host(program, live);
    return live;
}

}  // namespace wirewise
