// Ctrl-C during a long command: noted, so that the command can stop where nothing is half-written. A second
// one ends the process at once.
#pragma once

#include <exception>
#include <optional>

namespace wirewise {

// Ends the command with exit code 130.
struct Interrupted final : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

// What a process does about Ctrl-C. A rank that we launched leaves it to its launcher, who ends all ranks
// alike; a launcher passes on SIGTERM too.
enum class Interrupts { noted, noted_with_terminate, ignored };

class InterruptWatch {
  public:
    explicit InterruptWatch(Interrupts what = Interrupts::noted);
    ~InterruptWatch();  // the previous handlers again
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

    // Throws Interrupted when there was a Ctrl-C.
    void check() const;
    // The signal that came, if any.
    std::optional<int> signal() const;

  private:
    using Handler = void (*)(int);
    Handler previous_interrupt_;
    std::optional<Handler> previous_terminate_;
};

}  // namespace wirewise
