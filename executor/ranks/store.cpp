#include "executor/ranks/store.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <thread>

#include "executor/ranks/message.hpp"
#include "executor/ranks/roster.hpp"

namespace wirewise {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestHello = 4096, kLongestMessage = std::size_t{1} << 30;
constexpr auto kStrangerPatience = 10s;  // for a hello

// Someone who connected; a rank once its hello was right.
struct Guest {
    explicit Guest(Descriptor accepted) : socket(std::move(accepted)) {}
    Descriptor socket;
    MessageReader in{kLongestHello};
    std::string out;
    int rank = -1;
    bool refused = false;
    Clock::time_point since = Clock::now();
};

}  // namespace

class Store::Server {
  public:
    Server(Descriptor listener, const RunSettings& settings)
        : settings_(settings),
          listener_(std::move(listener)),
          wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          roster_(settings),
          thread_([this] { serve(); }) {}

    ~Server() {
        stopping_ = true;
        wake();
        thread_.join();
    }

    void rank_ended(int rank, int exit_code, const std::string& how) {
        const std::lock_guard lock(mutex_);
        end_locked({rank, exit_code, how + roster_.last_place(rank)});
    }

    void end(const Ending& ending) {
        const std::lock_guard lock(mutex_);
        end_locked(ending);
    }

    std::optional<Ending> ending() const {
        const std::lock_guard lock(mutex_);
        return ending_;
    }

    bool has_left(int rank) const {
        const std::lock_guard lock(mutex_);
        return roster_.has_left(rank);
    }

  private:
    void serve() {
        while (!done()) {
            wait();
            const std::lock_guard lock(mutex_);
            accept();
            receive();
            if (const auto ending = roster_.judge(Clock::now())) end_locked(*ending);
            send();
        }
    }

    bool done() {
        if (!stopping_) return false;
        const std::lock_guard lock(mutex_);
        if (!last_word_) last_word_ = Clock::now() + 1s;
        const bool told =
            std::all_of(guests_.begin(), guests_.end(), [](const auto& guest) { return guest->out.empty(); });
        return told || Clock::now() > *last_word_;
    }

    void wake() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(wake_.number(), &one, sizeof one);
    }

    void wait() {
        waits_.assign({{listener_.number(), POLLIN, 0}, {wake_.number(), POLLIN, 0}});
        {
            const std::lock_guard lock(mutex_);
            for (const auto& guest : guests_)
                waits_.push_back({guest->socket.number(),
                                  static_cast<short>(guest->out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
        }
        ::poll(waits_.data(), waits_.size(), static_cast<int>(settings_.beat().count()));
        std::uint64_t ignored = 0;
        [[maybe_unused]] const auto got = ::read(wake_.number(), &ignored, sizeof ignored);
    }

    void accept() {
        while (Descriptor socket = accept_from(listener_))
            guests_.push_back(std::make_unique<Guest>(std::move(socket)));
    }

    void receive() {
        std::erase_if(guests_, [this](const auto& guest) {
            const bool tired = guest->rank < 0 && Clock::now() - guest->since > kStrangerPatience;
            const bool gone = tired || !read(*guest);
            if (gone) forget(guest.get());
            return gone;
        });
    }

    void forget(const Guest* guest) {
        if (guest->rank >= 0) roster_.lost(guest->rank);
        for (auto& [key, waiting] : waiting_) std::erase(waiting, guest);
    }

    // False: the guest is gone.
    bool read(Guest& guest) try {
        std::array<std::byte, 1 << 16> bytes;
        for (;;) {
            const ssize_t got = ::recv(guest.socket.number(), bytes.data(), bytes.size(), 0);
            if (got == 0) return false;
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
            guest.in.take(std::span(bytes).first(static_cast<std::size_t>(got)));
            while (const auto message = guest.in.next())
                guest.rank < 0 ? welcome(guest, *message) : handle(guest, *message);
        }
    } catch (const NetworkError&) {
        return false;
    }

    static void say(Guest& guest, const Message& message) { guest.out += encoded(message); }

    // A stranger is turned away; a rank of this run that does not fit ends it.
    void welcome(Guest& guest, const Message& hello) {
        if (guest.refused) return;
        const auto refuse = [&](const std::string& why) {
            say(guest, {.kind = MessageKind::refused, .value = why});
            guest.refused = true;
        };
        if (hello.kind != MessageKind::hello || hello.key != settings_.token)
            return refuse("another run is there: choose another port, or give all ranks the same token");
        const int rank = static_cast<int>(hello.number);
        const std::string misfit = roster_.misfit(rank, hello.count, hello.value);
        if (!misfit.empty()) {
            end_locked({rank, 2, misfit});
            return refuse(misfit);
        }
        guest.rank = rank;
        guest.in.allow(kLongestMessage);
        roster_.joined(rank);
        say(guest, {.kind = MessageKind::welcome});
        if (ending_) say_ending(guest);
    }

    void handle(Guest& guest, const Message& message) {
        roster_.heard(guest.rank);
        switch (message.kind) {
            case MessageKind::set:
                return set(message);
            case MessageKind::get:
                return get(guest, message.key);
            case MessageKind::alive:
                roster_.stands(guest.rank, message.value);
                return say(guest, {.kind = MessageKind::alive});
            case MessageKind::failed:
                return end_locked({guest.rank, static_cast<int>(message.number), message.value});
            case MessageKind::leave:
                roster_.left(guest.rank);
                if (roster_.everyone_left())
                    for (const auto& one : guests_) say(*one, {.kind = MessageKind::goodbye});
                return;
            default:
                throw NetworkError("a message that no rank sends");
        }
    }

    void set(const Message& message) {
        values_[message.key] = message.value;
        for (Guest* guest : waiting_[message.key])
            say(*guest, {.kind = MessageKind::value, .key = message.key, .value = message.value});
        waiting_.erase(message.key);
    }

    void get(Guest& guest, const std::string& key) {
        const auto found = values_.find(key);
        if (found == values_.end())
            waiting_[key].push_back(&guest);
        else
            say(guest, {.kind = MessageKind::value, .key = key, .value = found->second});
    }

    void end_locked(const Ending& ending) {
        if (ending_) return;
        ending_ = ending;
        for (const auto& guest : guests_)
            if (guest->rank >= 0) say_ending(*guest);
        wake();
    }

    void say_ending(Guest& guest) const {
        say(guest, {.kind = MessageKind::ended,
                    .number = ending_->exit_code,
                    .count = ending_->rank,
                    .value = ending_->why});
    }

    // A connection that has closed is found when it is read.
    void send() {
        for (const auto& guest : guests_) {
            const ssize_t sent =
                ::send(guest->socket.number(), guest->out.data(), guest->out.size(), MSG_NOSIGNAL);
            if (sent > 0) guest->out.erase(0, static_cast<std::size_t>(sent));
            if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) guest->out.clear();
        }
    }

    const RunSettings settings_;
    const Descriptor listener_, wake_;
    mutable std::mutex mutex_;  // over all below
    Roster roster_;
    std::vector<std::unique_ptr<Guest>> guests_;
    std::map<std::string, std::string> values_;
    std::map<std::string, std::vector<Guest*>> waiting_;  // for a key
    std::optional<Ending> ending_;
    std::optional<Clock::time_point> last_word_;
    std::vector<pollfd> waits_;  // of the thread alone
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

Store::Store(Descriptor listener, const RunSettings& settings)
    : server_(std::make_unique<Server>(std::move(listener), settings)) {}
Store::~Store() = default;

void Store::rank_ended(int rank, int exit_code, const std::string& how) {
    server_->rank_ended(rank, exit_code, how);
}
void Store::end(const Ending& ending) { server_->end(ending); }
std::optional<Ending> Store::ending() const { return server_->ending(); }
bool Store::has_left(int rank) const { return server_->has_left(rank); }

}  // namespace wirewise
