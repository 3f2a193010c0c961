#include "executor/host/gate.hpp"

namespace wirewise {

void Gate::pass() {
    std::unique_lock lock(mutex_);
    if (closed_) throw PeerFailed();
    if (++waiting_ == members_) {
        waiting_ = 0;
        ++round_;
        changed_.notify_all();
        return;
    }
    const std::uint64_t round = round_;
    changed_.wait(lock, [&] { return closed_ || round_ != round; });
    if (round_ == round) throw PeerFailed();
}

void Gate::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

}  // namespace wirewise
