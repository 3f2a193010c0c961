// A real run failed: a rank threw, a call failed. Ends the command with exit code 4.
#pragma once

#include <stdexcept>
#include <string>

namespace wirewise {

class RunError : public std::runtime_error {
  public:
    RunError(int rank, const std::string& why)
        : std::runtime_error("rank " + std::to_string(rank) + ": " + why), rank_(rank), why_(why) {}
    int rank() const { return rank_; }
    const std::string& why() const { return why_; }

  private:
    int rank_;
    std::string why_;
};

}  // namespace wirewise
