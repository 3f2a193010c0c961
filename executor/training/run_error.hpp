// A real run failed: a rank threw, a call failed. Ends the command with exit code 4.
#pragma once

#include <stdexcept>
#include <string>

namespace wirewise {

class RunError : public std::runtime_error {
  public:
    RunError(int rank, const std::string& what)
        : std::runtime_error("rank " + std::to_string(rank) + ": " + what), rank_(rank) {}
    int rank() const { return rank_; }

  private:
    int rank_;
};

}  // namespace wirewise
