#include "tests/cli/job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace wirewise {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string temporary_file() {
    std::string name = (std::filesystem::temp_directory_path() / "wirewise-job-XXXXXX").string();
    ::close(mkstemp(name.data()));
    return name;
}

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
                         std::uint64_t address_space, const std::string& out, const std::string& err) {
    dup2(::open(out.c_str(), O_WRONLY), STDOUT_FILENO);
    dup2(::open(err.c_str(), O_WRONLY | O_APPEND), STDERR_FILENO);
    for (const std::string& variable : variables) putenv(const_cast<char*>(variable.c_str()));
    const rlimit limit{address_space, address_space};
    if (address_space > 0) setrlimit(RLIMIT_AS, &limit);
    std::vector<char*> words{const_cast<char*>(WIREWISE_BINARY)};
    for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(WIREWISE_BINARY, words.data());
    _exit(127);
}

// "pid (name) state parent ...": the name may hold blanks, but ends at the last parenthesis.
struct Stat {
    char state = 'X';
    pid_t parent = 0;
};
Stat stat_of(const std::string& process) {
    const std::string text = text_of("/proc/" + process + "/stat");
    const std::size_t end = text.rfind(')');
    Stat stat;
    if (end != std::string::npos) std::sscanf(text.c_str() + end + 2, "%c %d", &stat.state, &stat.parent);
    return stat;
}

}  // namespace

bool is_running(pid_t process) {
    const char state = stat_of(std::to_string(process)).state;
    return state != 'X' && state != 'Z';
}

Job::Job(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
         std::uint64_t address_space)
    : out_(temporary_file()), err_(temporary_file()) {
    process_ = fork();
    if (process_ == 0) become(arguments, variables, address_space, out_, err_);
}

Job::~Job() {
    if (process_ > 0) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    std::filesystem::remove(out_);
    std::filesystem::remove(err_);
}

std::vector<pid_t> Job::children(std::size_t count) const {
    std::vector<pid_t> found;
    for (const auto give_up = Clock::now() + std::chrono::seconds(20); Clock::now() < give_up;
         std::this_thread::sleep_for(milliseconds(20))) {
        found.clear();
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const std::string name = entry.path().filename().string();
            if (name.find_first_not_of("0123456789") == std::string::npos && stat_of(name).parent == process_)
                found.push_back(std::stoi(name));
        }
        std::sort(found.begin(), found.end());
        if (found.size() >= count) return found;
    }
    ADD_FAILURE() << found.size() << " children instead of " << count << ": " << text_of(err_);
    return found;
}

Said Job::wait(double seconds) {
    int status = 0;
    const auto give_up = Clock::now() + std::chrono::duration<double>(seconds);
    while (waitpid(process_, &status, WNOHANG) == 0) {
        if (Clock::now() > give_up) {
            ADD_FAILURE() << "still running after " << seconds << " s: " << text_of(err_);
            return {-1, text_of(out_), text_of(err_)};
        }
        std::this_thread::sleep_for(milliseconds(10));
    }
    process_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of(out_), text_of(err_)};
}

}  // namespace wirewise
