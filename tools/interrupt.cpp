#include "tools/interrupt.hpp"

#include <csignal>
#include <cstdlib>

namespace wirewise {

namespace {

constexpr int kExitCode = 130;
volatile std::sig_atomic_t interrupted = 0;  // a signal handler can reach nothing else

void note(int) {
    if (interrupted) std::_Exit(kExitCode);
    interrupted = 1;
}

}  // namespace

InterruptWatch::InterruptWatch() {
    interrupted = 0;
    previous_ = std::signal(SIGINT, note);
}
InterruptWatch::~InterruptWatch() { std::signal(SIGINT, previous_); }

void InterruptWatch::check() const {
    if (interrupted) throw Interrupted();
}

}  // namespace wirewise
