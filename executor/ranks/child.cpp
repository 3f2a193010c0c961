#include "executor/ranks/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "executor/training/run_error.hpp"

extern char** environ;

namespace wirewise {

namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

// This process's variables, those of the same names replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
    std::vector<std::string> all = variables;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view old(*entry);
        const std::string_view name = old.substr(0, old.find('=') + 1);
        bool replaced = false;
        for (const std::string& variable : variables) replaced |= variable.starts_with(name);
        if (!replaced) all.emplace_back(old);
    }
    return all;
}

// In the child: only what is safe between fork and exec.
[[noreturn]] void become(char* const* command, char* const* environment, pid_t parent, int errors) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);  // it ended before the line above
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGTERM, SIG_DFL);
    if (errors >= 0) {
        ::dup2(errors, STDERR_FILENO);
        const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
    }
    ::execve(command[0], command, environment);
    ::_exit(127);
}

}  // namespace

Child::Child(int rank, const std::vector<std::string>& command, const std::vector<std::string>& variables)
    : rank_(rank) {
    const std::vector<std::string> all = environment_with(variables);
    const std::vector<char*> words = pointers_to(command), environment = pointers_to(all);
    std::array<int, 2> ends{-1, -1};
    if (rank > 0 && ::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw RunError(rank, fmt::format("pipe: {}", std::strerror(errno)));
    errors_ = Descriptor(ends[0]);
    const Descriptor theirs(ends[1]);
    if (errors_) ::fcntl(errors_.number(), F_SETFL, O_NONBLOCK);
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0) become(words.data(), environment.data(), parent, theirs.number());
    if (process_ < 0) throw RunError(rank, fmt::format("fork: {}", std::strerror(errno)));
}

Child::~Child() {
    if (!running()) return;
    kill();
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
}

void Child::kill() {
    if (running()) ::kill(process_, SIGKILL);
}

std::optional<int> Child::ended() {
    int status = 0;
    if (!running() || ::waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
    process_ = -1;
    return status;
}

void Child::pass_on_errors() {
    if (!errors_) return;
    std::array<char, 4096> bytes;
    ssize_t got = 0;
    while ((got = ::read(errors_.number(), bytes.data(), bytes.size())) > 0)
        pending_.append(bytes.data(), static_cast<std::size_t>(got));
    const bool closed = got == 0;
    if (closed) errors_ = Descriptor();
    if (closed && !pending_.empty() && pending_.back() != '\n') pending_ += '\n';
    for (std::size_t end = 0; (end = pending_.find('\n')) != std::string::npos; pending_.erase(0, end + 1)) {
        const std::string line = fmt::format("[rank {}] {}", rank_, pending_.substr(0, end + 1));
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    }
}

std::string describe_status(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace wirewise
