#include "tools/render/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace wirewise {

Progress::Progress(std::string what, bool quiet)
    : what_(std::move(what)), quiet_(quiet), terminal_(isatty(2) == 1) {}

Progress::~Progress() {
    if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::step(std::size_t done, std::size_t total, const std::string& now) {
    using namespace std::chrono_literals;
    const auto time = Clock::now();
    if (quiet_ || time - begin_ < 1s || time - last_ < (terminal_ ? 100ms : 5000ms)) return;
    last_ = time;
    shown_ = true;
    const double seconds = std::chrono::duration<double>(time - begin_).count();
    const std::string line = fmt::format("{}: {} of {} ({}), {:.0f} s", what_, done, total, now, seconds);
    std::fputs((terminal_ ? "\r\033[K" + line : line + "\n").c_str(), stderr);
}

}  // namespace wirewise
