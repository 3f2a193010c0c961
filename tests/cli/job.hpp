// A wirewise that runs beside the test: it can be asked for its children, sent signals, and waited for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/cli/run_binary.hpp"

namespace wirewise {

class Job {
  public:
    // `variables`: "NAME=value", beside this process's own. `address_space`: a limit in bytes for it and its
    // children; 0: none.
    explicit Job(const std::vector<std::string>& arguments, const std::vector<std::string>& variables = {},
                 std::uint64_t address_space = 0);
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    ~Job();  // kills what is left

    pid_t process() const { return process_; }
    // Its children in order of their start, once there are so many; fails the test after a while.
    std::vector<pid_t> children(std::size_t count) const;
    // Exit code (128 + signal when killed) and output; a job that takes longer than `seconds` fails the test.
    Said wait(double seconds);

  private:
    pid_t process_ = -1;
    std::string out_, err_;  // paths
};

// True while the process is there and no zombie.
bool is_running(pid_t process);

}  // namespace wirewise
