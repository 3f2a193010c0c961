// Times work on a stream by events, again and again.
#pragma once

#include <algorithm>
#include <vector>

#include "executor/cuda/handles.hpp"
#include "executor/training/device_module.hpp"

namespace wirewise::cuda {

constexpr int kRepeats = 11, kWarmUps = 2;

inline Timing timing_of(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    const auto at = [&](double part) {
        return seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))];
    };
    return {Seconds(at(0.5)), Seconds(at(0.75) - at(0.25)), static_cast<int>(seconds.size())};
}

// Two points of a stream, and the time between them.
class Stopwatch {
  public:
    void start(cudaStream_t stream) { record(begin_, stream); }
    void stop(cudaStream_t stream) { record(end_, stream); }
    // Waits for the second.
    double seconds() const { return seconds_between(begin_, end_); }
    // From this one's end to the other's, which has passed: negative where it came first.
    double seconds_to_end_of(const Stopwatch& other) const { return seconds_between(end_, other.end_); }

  private:
    static void record(const Event& event, cudaStream_t stream) {
        check(cudaEventRecord(event.get(), stream), "cudaEventRecord");
    }
    static double seconds_between(const Event& from, const Event& to) {
        check(cudaEventSynchronize(from.get()), "cudaEventSynchronize");
        check(cudaEventSynchronize(to.get()), "cudaEventSynchronize");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, from.get(), to.get()), "cudaEventElapsedTime");
        return static_cast<double>(milliseconds) * 1e-3;
    }

    Event begin_ = make_event(true), end_ = make_event(true);
};

class StreamClock {
  public:
    explicit StreamClock(cudaStream_t stream) : stream_(stream) {}

    // `between` runs before each repeat and is not timed.
    template <class Work, class Between>
    Timing time(Work&& work, Between&& between, int repeats = kRepeats) {
        std::vector<double> seconds;
        for (int i = -kWarmUps; i < repeats; ++i) {
            between();
            watch_.start(stream_);
            work();
            watch_.stop(stream_);
            const double taken = watch_.seconds();
            if (i >= 0) seconds.push_back(taken);
        }
        return timing_of(std::move(seconds));
    }

  private:
    cudaStream_t stream_;
    Stopwatch watch_;
};

}  // namespace wirewise::cuda
