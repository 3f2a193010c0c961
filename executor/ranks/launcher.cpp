#include "executor/ranks/launcher.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "executor/ranks/child.hpp"
#include "executor/ranks/place.hpp"
#include "executor/ranks/store.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 20ms;        // between looks at the children
constexpr auto kFarewell = 2000ms;  // for ranks to end by themselves once the run has ended

std::string random_token() {
    std::array<unsigned char, 16> bytes{};
    ensure(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
           "the kernel gives random bytes");
    std::string token;
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

class Launcher {
  public:
    explicit Launcher(const RankLaunch& launch)
        : launch_(launch), settings_(with_token(launch.settings)), listener_(listen_on({"127.0.0.1", 0})) {
        const int port = local_end(listener_).port;
        for (int rank = 0; rank < settings_.world; ++rank)  // before the store's thread: a fork wants one
            children_.push_back(std::make_unique<Child>(rank, launch.command, variables_of(rank, port)));
        store_ = std::make_unique<Store>(std::move(listener_), settings_);
    }

    std::optional<Ending> run() {
        std::optional<Deadline> farewell;
        while (look()) {
            if (store_->ending() && !farewell) farewell = Clock::now() + kFarewell;
            if (farewell && Clock::now() > *farewell)
                for (const auto& child : children_) child->kill();
            wait();
        }
        for (const auto& child : children_) child->pass_on_errors();
        return store_->ending();
    }

  private:
    static RunSettings with_token(RunSettings settings) {
        settings.token = random_token();
        return settings;
    }

    std::vector<std::string> variables_of(int rank, int port) const {
        std::vector<std::string> variables = launch_.variables;
        for (const std::string& own :
             {fmt::format("RANK={}", rank), fmt::format("LOCAL_RANK={}", rank),
              fmt::format("WORLD_SIZE={}", settings_.world),
              fmt::format("LOCAL_WORLD_SIZE={}", settings_.world), std::string("MASTER_ADDR=127.0.0.1"),
              fmt::format("MASTER_PORT={}", port), fmt::format("{}={}", kTokenVariable, settings_.token),
              fmt::format("{}=wirewise", kLauncherVariable)})
            variables.push_back(own);
        return variables;
    }

    // False: all have ended.
    bool look() {
        if (const auto signal = launch_.interrupted())
            store_->end({0, 128 + *signal, fmt::format("interrupted by signal {}", *signal)});
        bool running = false;
        for (const auto& child : children_) {
            child->pass_on_errors();
            if (const auto status = child->ended()) judge(*child, *status);
            running |= child->running();
        }
        return running;
    }

    // A rank that has left may end, with the code 0.
    void judge(const Child& child, int status) {
        if (status == 0 && store_->has_left(child.rank())) return;
        const bool failed = WIFEXITED(status) && WEXITSTATUS(status) != 0;
        store_->rank_ended(child.rank(), failed ? WEXITSTATUS(status) : 4, describe_status(status));
    }

    void wait() {
        std::vector<pollfd> waits;
        for (const auto& child : children_)
            if (child->errors()) waits.push_back({child->errors().number(), POLLIN, 0});
        ::poll(waits.data(), waits.size(), static_cast<int>(kLook.count()));
    }

    const RankLaunch& launch_;
    const RunSettings settings_;
    Descriptor listener_;
    std::vector<std::unique_ptr<Child>> children_;
    std::unique_ptr<Store> store_;
};

}  // namespace

std::optional<Ending> launch(const RankLaunch& what) { return Launcher(what).run(); }

std::vector<std::string> own_command() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    ensure(!words.empty(), "the kernel knows this process's command line");
    words.front() = std::filesystem::read_symlink("/proc/self/exe").string();
    return words;
}

}  // namespace wirewise
