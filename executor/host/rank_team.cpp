#include "executor/host/rank_team.hpp"

#include <system_error>

namespace wirewise {

RankTeam::RankTeam(int count, std::function<void()> on_failure, int first)
    : on_failure_(std::move(on_failure)), start_(count + 1), finish_(count + 1) {
    threads_.reserve(static_cast<std::size_t>(count));
    for (int rank = first; rank < first + count; ++rank) start(rank);
}

RankTeam::~RankTeam() {
    job_ = nullptr;
    start_.pass();
    end();
}

// Those that were started wait at a gate that the others will never reach.
void RankTeam::start(int rank) try {
    threads_.emplace_back([this, rank] { work(rank); });
} catch (const std::system_error& error) {
    start_.close();
    end();
    throw RunError(rank, std::string("its thread cannot be started: ") + error.what());
}

void RankTeam::end() {
    for (std::thread& thread : threads_) thread.join();
}

void RankTeam::run(const std::function<void(int)>& job) {
    job_ = &job;
    start_.pass();
    finish_.pass();
    if (failure_) std::rethrow_exception(failure_);
}

void RankTeam::work(int rank) try {
    for (;;) {
        start_.pass();
        if (!job_) return;
        run_one(rank);
        finish_.pass();
    }
} catch (const PeerFailed&) {  // the team was never complete
}

void RankTeam::run_one(int rank) try { (*job_)(rank); } catch (const PeerFailed&) {
} catch (const RunError&) {
    fail(std::current_exception());
} catch (const std::exception& error) {
    fail(std::make_exception_ptr(RunError(rank, error.what())));
} catch (...) {
    fail(std::make_exception_ptr(RunError(rank, "threw something that is no exception")));
}

void RankTeam::fail(std::exception_ptr failure) {
    const std::lock_guard lock(failure_mutex_);
    if (failure_) return;
    failure_ = std::move(failure);
    on_failure_();
}

}  // namespace wirewise
