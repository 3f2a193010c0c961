// One line on standard error for anything that takes more than a second; silent before that and when told to
// be quiet.
#pragma once

#include <chrono>
#include <string>

namespace wirewise {

class Progress {
  public:
    Progress(std::string what, bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void step(std::size_t done, std::size_t total, const std::string& now);

  private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    bool quiet_, terminal_, shown_ = false;
    Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

}  // namespace wirewise
