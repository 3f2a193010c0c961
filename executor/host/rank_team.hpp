// One thread per rank, alive as long as the team: a step starts no thread and allocates nothing.
#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "executor/host/gate.hpp"
#include "executor/training/run_error.hpp"

namespace wirewise {

class RankTeam {
  public:
    // Ranks [first, first + count). `on_failure` is called once, on the thread of the first rank that throws:
    // it frees the others. Throws RunError when a thread cannot be started.
    RankTeam(int count, std::function<void()> on_failure, int first = 0);
    ~RankTeam();

    // Runs `job(rank)` on every rank and waits for all. When a rank throws, throws RunError with the rank and
    // its message (a RunError as it is); the team is then of no more use.
    void run(const std::function<void(int)>& job);

  private:
    void start(int rank);
    void end();
    void work(int rank);
    void run_one(int rank);
    void fail(std::exception_ptr failure);

    const std::function<void(int)>* job_ = nullptr;  // null: the end
    std::function<void()> on_failure_;
    Gate start_, finish_;
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace wirewise
