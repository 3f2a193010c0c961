// One rank's process, as its launcher holds it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "executor/ranks/descriptor.hpp"

namespace wirewise {

class Child {
  public:
    // Starts it with these variables beside this process's own. It is killed when this thread ends, and does
    // not hear an interrupt from the terminal: the launcher does. Throws RunError.
    Child(int rank, const std::vector<std::string>& command, const std::vector<std::string>& variables);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();  // kills it if it is still there

    int rank() const { return rank_; }
    bool running() const { return process_ > 0; }
    void kill();
    // How it ended, once: its wait status.
    std::optional<int> ended();

    // Of its standard error; none for rank 0, which writes to this process's.
    const Descriptor& errors() const { return errors_; }
    // Passes on what came, in whole lines; what is left too when the other side is closed.
    void pass_on_errors();

  private:
    int rank_;
    pid_t process_ = -1;
    Descriptor errors_;
    std::string pending_;
};

// "exit code 3", "killed by signal 9 (Killed)".
std::string describe_status(int wait_status);

}  // namespace wirewise
