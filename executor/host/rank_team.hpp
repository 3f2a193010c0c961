// One thread per rank, alive as long as the team: a step starts no thread and allocates nothing.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "executor/host/gate.hpp"

namespace wirewise {

class RankTeam {
  public:
    // `on_failure` is called once, on the thread of the first rank that throws: it frees the others.
    RankTeam(int ranks, std::function<void()> on_failure);
    ~RankTeam();

    // Runs `job(rank)` on every rank and waits for all. When a rank throws, throws RunError with the rank and
    // its message; the team is then of no more use.
    void run(const std::function<void(int)>& job);

  private:
    void work(int rank);
    void run_one(int rank);

    const std::function<void(int)>* job_ = nullptr;  // null: the end
    std::function<void()> on_failure_;
    Gate start_, finish_;
    std::mutex failure_mutex_;
    struct Failure {
        int rank;
        std::string message;
    };
    std::optional<Failure> failure_;
    std::vector<std::thread> threads_;
};

}  // namespace wirewise
