#include "tools/interrupt.hpp"

#include <csignal>
#include <cstdlib>

namespace wirewise {

namespace {

volatile std::sig_atomic_t noted = 0;  // a signal handler can reach nothing else

void note(int signal) {
    if (noted) std::_Exit(128 + signal);
    noted = signal;
}

}  // namespace

InterruptWatch::InterruptWatch(Interrupts what) {
    noted = 0;
    previous_interrupt_ = std::signal(SIGINT, what == Interrupts::ignored ? SIG_IGN : note);
    if (what == Interrupts::noted_with_terminate) previous_terminate_ = std::signal(SIGTERM, note);
}

InterruptWatch::~InterruptWatch() {
    std::signal(SIGINT, previous_interrupt_);
    if (previous_terminate_) std::signal(SIGTERM, *previous_terminate_);
}

void InterruptWatch::check() const {
    if (noted) throw Interrupted();
}

std::optional<int> InterruptWatch::signal() const { return noted ? std::optional<int>(noted) : std::nullopt; }

}  // namespace wirewise
