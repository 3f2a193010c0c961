#include "simulator/engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace wirewise {
namespace {

constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();
constexpr double kMostHeld = 0.99;  // of the SMs: some compute always goes on
constexpr double kDone = 1e-3;      // picoseconds: below any rounding of a product of rates

// One stream and the task at its head.
struct Lane {
    const Task* next = nullptr;
    const Task* end = nullptr;
    bool running = false;
    double remaining = 0;  // picoseconds alone
    double delay = 0;      // of a collective that waits for SMs, while compute runs
    double slowdown = 1;   // time factor now; infinite: stopped
    std::size_t span = 0;
};

bool on_compute(TaskKind kind) { return kind <= TaskKind::memory_bound; }

class Engine {
  public:
    Engine(const StepTasks& tasks, const ContentionCosts& contention, const RunSettings& settings)
        : tasks_(tasks),
          contention_(contention),
          settings_(settings),
          base_(-settings.host_lead),
          fired_(tasks.event_count),
          lanes_(tasks.streams.size()) {
        std::size_t count = 0;
        for (std::size_t s = 0; s < lanes_.size(); ++s) {
            lanes_[s].next = tasks.streams[s].data();
            lanes_[s].end = lanes_[s].next + tasks.streams[s].size();
            count += tasks.streams[s].size();
        }
        spans_.reserve(count);
    }

    Timeline run() {
        while (true) {
            start_what_can();
            if (running_ == 0 && next_issue_ == kNever) break;
            set_rates();
            advance(std::min(time_to_next_end(), next_issue_ == kNever ? kNever : next_issue_ - now_));
        }
        for (const Lane& lane : lanes_)
            ensure(lane.next == lane.end, "every event that a stream waits for is recorded");
        return timeline();
    }

  private:
    // --- the host ---
    bool issued(const Task& task) {
        if (task.epoch > epoch_) return false;
        if (base_ + task.issue <= now_) return true;
        next_issue_ = std::min(next_issue_, base_ + task.issue);
        return false;
    }

    // The host waits for the GPU; from then on its clock is late by as much as it waited.
    bool pass_barrier() {
        if (epoch_ == tasks_.barriers.size()) return false;
        const HostBarrier& barrier = tasks_.barriers[epoch_];
        if (lanes_[barrier.stream].next - tasks_.streams[barrier.stream].data() < barrier.tasks) return false;
        base_ = std::max(base_, now_ - barrier.issue);
        ++epoch_;
        return true;
    }

    // --- starting ---
    void start_what_can() {
        bool again = true;
        while (again) {
            next_issue_ = kNever;
            again = false;
            for (Lane& lane : lanes_)
                if (!lane.running && lane.next != lane.end) again |= start_next(lane);
            again |= pass_barrier();
        }
    }

    // Passes records and satisfied waits, then starts the next task if it may. True when another stream may
    // go on.
    bool start_next(Lane& lane) {
        bool released = false;
        for (; lane.next != lane.end && issued(*lane.next); ++lane.next) {
            const Task& task = *lane.next;
            if (task.kind == TaskKind::record)
                fired_[task.event] = released = true;
            else if (task.kind != TaskKind::wait)
                return begin(lane, task), released;
            else if (!fired_[task.event])
                return released;
        }
        return released;
    }

    void begin(Lane& lane, const Task& task) {
        if (task.kind == TaskKind::collective) {
            if (turn_[task.axis] != task.turn)
                return;  // one communicator's calls run in issue order, one at a time
            lane.delay = task.delay * tasks_.mean_residual;
        }
        lane.running = true;
        lane.remaining = task.kind == TaskKind::gemm ? task.work * settings_.gemm_factor : task.work;
        lane.span = spans_.size();
        ++running_;
        spans_.push_back({OpId{task.op}, StreamId{task.stream}, Instant(now_), Instant(now_)});
    }

    // --- rates while the set of running tasks stays the same ---
    struct Load {
        int compute = 0, side = 0;
        double share = 0;  // of the SMs that collectives hold
        std::array<int, kLinks> on_link{};
    };

    Load load() const {
        Load load;
        for (const Lane& lane : lanes_) {
            if (!lane.running) continue;
            const Task& task = *lane.next;
            if (on_compute(task.kind)) ++load.compute;
            if (task.kind == TaskKind::side_kernel) ++load.side;
            if (task.kind == TaskKind::collective) load.share += task.share;
            if (task.kind >= TaskKind::collective && !(lane.delay > 0)) ++load.on_link[task.link];
        }
        return load;
    }

    double slowdown(const Task& task, const Load& load) const {
        const double matrix = 1 / (1 - std::min(load.share, kMostHeld));
        switch (task.kind) {
            case TaskKind::gemm:
            case TaskKind::attention:
            case TaskKind::memory_bound: {
                if (load.side > 0) return std::numeric_limits<double>::infinity();
                const bool streaming = task.kind == TaskKind::memory_bound;
                return load.compute * (streaming ? 1 + contention_.vector_share * (matrix - 1) : matrix);
            }
            case TaskKind::side_kernel:
                return load.side / (load.compute > 0 ? contention_.side_kernel_rate : 1);
            case TaskKind::host_kernel:
                return 1;
            case TaskKind::collective:
                return load.on_link[task.link] * (load.compute > 0 ? 1 + task.slowdown : 1);
            default:
                return load.on_link[task.link];
        }
    }

    void set_rates() {
        Load now = load();
        if (now.compute == 0) {  // nothing holds the SMs: waiting collectives start at once
            bool started = false;
            for (Lane& lane : lanes_)
                if (lane.running && lane.delay > 0) lane.delay = 0, started = true;
            if (started) now = load();
        }
        for (Lane& lane : lanes_)
            if (lane.running) lane.slowdown = slowdown(*lane.next, now);
    }

    // --- time ---
    static Picoseconds time_to_end(const Lane& lane) {
        const double time = lane.delay > 0 ? lane.delay : lane.remaining * lane.slowdown;
        return time < 9e18 ? static_cast<Picoseconds>(std::ceil(time)) : kNever;
    }

    Picoseconds time_to_next_end() const {
        Picoseconds least = kNever;
        for (const Lane& lane : lanes_)
            if (lane.running) least = std::min(least, time_to_end(lane));
        return least;
    }

    void advance(Picoseconds time) {
        ensure(time != kNever, "something moves while tasks run");
        now_ += time;
        for (Lane& lane : lanes_) {
            if (!lane.running) continue;
            const double passed = static_cast<double>(time);
            if (lane.delay > 0) {
                lane.delay -= passed;
            } else if (lane.remaining > 0) {
                lane.remaining -= passed / lane.slowdown;
            }
            if (!(lane.delay > 0) && lane.remaining <= kDone) finish(lane);
        }
    }

    void finish(Lane& lane) {
        spans_[lane.span].end = Instant(now_);
        if (lane.next->kind == TaskKind::collective) ++turn_[lane.next->axis];
        lane.running = false;
        lane.delay = 0;
        ++lane.next;
        --running_;
    }

    // Spans were begun in order of time; equal times go by op.
    Timeline timeline() {
        for (auto first = spans_.begin(); first != spans_.end();) {
            const auto last =
                std::find_if(first, spans_.end(), [&](const Span& s) { return s.begin != first->begin; });
            if (last - first > 1)
                std::sort(first, last, [](const Span& a, const Span& b) { return a.op < b.op; });
            first = last;
        }
        const Picoseconds host_end = std::max<Picoseconds>(0, base_ + tasks_.host_total);
        return {std::move(spans_), Instant(host_end), Instant(std::max(now_, host_end)),
                Instant(tasks_.host_total)};
    }

    const StepTasks& tasks_;
    const ContentionCosts& contention_;
    const RunSettings settings_;
    Picoseconds now_ = 0;
    Picoseconds base_;  // the host's clock: a task is issued at base_ + task.issue
    Picoseconds next_issue_ = kNever;
    std::uint32_t epoch_ = 0;
    int running_ = 0;
    std::vector<char> fired_;
    std::array<std::uint32_t, kAxisCount> turn_{};
    std::vector<Lane> lanes_;
    std::vector<Span> spans_;
};

}  // namespace

Timeline run(const StepTasks& tasks, const ContentionCosts& contention, const RunSettings& settings) {
    return Engine(tasks, contention, settings).run();
}

}  // namespace wirewise
