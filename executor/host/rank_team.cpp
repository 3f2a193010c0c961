#include "executor/host/rank_team.hpp"

#include "executor/training/run_error.hpp"

namespace wirewise {

RankTeam::RankTeam(int ranks, std::function<void()> on_failure)
    : on_failure_(std::move(on_failure)), start_(ranks + 1), finish_(ranks + 1) {
    for (int rank = 0; rank < ranks; ++rank) threads_.emplace_back([this, rank] { work(rank); });
}

RankTeam::~RankTeam() {
    job_ = nullptr;
    start_.pass();
    for (std::thread& thread : threads_) thread.join();
}

void RankTeam::run(const std::function<void(int)>& job) {
    job_ = &job;
    start_.pass();
    finish_.pass();
    if (failure_) throw RunError(failure_->rank, failure_->message);
}

void RankTeam::work(int rank) {
    for (;;) {
        start_.pass();
        if (!job_) return;
        run_one(rank);
        finish_.pass();
    }
}

void RankTeam::run_one(int rank) {
    const auto fail = [&](const char* message) {
        const std::lock_guard lock(failure_mutex_);
        if (failure_) return;
        failure_ = Failure{rank, message};
        on_failure_();
    };
    try {
        (*job_)(rank);
    } catch (const PeerFailed&) {
    } catch (const std::exception& error) {
        fail(error.what());
    } catch (...) {
        fail("threw something that is no exception");
    }
}

}  // namespace wirewise
