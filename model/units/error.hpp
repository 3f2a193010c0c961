// Two kinds of trouble, kept apart: bad input (the user can mend it) and a broken invariant (we must).
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace wirewise {

// Bad input. `place` is a file, option or file:JSON-pointer; `remedy` says what to write instead.
// what() is the whole message on one line: "place: problem; remedy". Ends the command with exit code 2.
class InputError : public std::runtime_error {
  public:
    InputError(std::string place, std::string problem, std::string remedy = {});

    const std::string& place() const { return place_; }
    const std::string& problem() const { return problem_; }
    const std::string& remedy() const { return remedy_; }

  private:
    std::string place_, problem_, remedy_;
};

// A quantity left the range of its type (Bytes, Instant). Never wraps silently.
class OverflowError : public std::overflow_error {
  public:
    using std::overflow_error::overflow_error;
};

// A broken promise inside wirewise itself. Ends the command with exit code 1.
class InvariantError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

[[noreturn]] void fail_invariant(std::string_view what, std::source_location where);

// Checks an invariant in every build type; throws InvariantError naming file and line.
inline void ensure(bool holds, std::string_view what,
                   std::source_location where = std::source_location::current()) {
    if (!holds) [[unlikely]]
        fail_invariant(what, where);
}

}  // namespace wirewise
