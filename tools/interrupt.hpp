// Ctrl-C during a long command: noted, so that the command can stop where nothing is half-written. A second
// one ends the process at once.
#pragma once

#include <exception>

namespace wirewise {

// Ends the command with exit code 130.
struct Interrupted final : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

class InterruptWatch {
  public:
    InterruptWatch();
    ~InterruptWatch();  // the previous handler again
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

    // Throws Interrupted when there was a Ctrl-C.
    void check() const;

  private:
    using Handler = void (*)(int);
    Handler previous_;
};

}  // namespace wirewise
