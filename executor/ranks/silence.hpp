// How long the other side has been silent while this process was itself awake: a stopped, suspended or
// starved process does not hold its own absence against the others.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace wirewise {

class Silence {
  public:
    using Clock = std::chrono::steady_clock;

    void heard() { length_ = Clock::duration::zero(); }
    // Called at every beat at least: a longer gap is this process's own.
    void tick(Clock::time_point now, Clock::duration beat) {
        if (last_) length_ += std::min(now - *last_, 2 * beat);
        last_ = now;
    }
    Clock::duration length() const { return length_; }

  private:
    Clock::duration length_{};
    std::optional<Clock::time_point> last_;
};

}  // namespace wirewise
