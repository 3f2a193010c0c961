#include "executor/ranks/tcp_rendezvous.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "executor/ranks/message.hpp"
#include "executor/ranks/silence.hpp"
#include "executor/ranks/store.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

using namespace std::chrono_literals;

constexpr auto kStuckAfter = 3s;

void raise_event(const Descriptor& event) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event.number(), &one, sizeof one);
}

}  // namespace

class TcpRendezvous::Member {
  public:
    Member(const RankPlace& place, const RunSettings& settings)
        : place_(place),
          settings_(settings),
          wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          ended_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        settings_.world = place.world;
        settings_.token = place.token;
        try {
            join();
        } catch (const NetworkError& error) {
            throw RunError(place.rank, fmt::format("cannot join the run: {}", error.what()));
        }
        watch_ = std::thread([this] { watch(); });
    }

    ~Member() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        raise_event(wake_);
        watch_.join();
    }

    void set(const std::string& key, std::span<const std::byte> value) {
        check();
        say({.kind = MessageKind::set,
             .key = key,
             .value = {reinterpret_cast<const char*>(value.data()), value.size()}});
    }

    std::vector<std::byte> get(const std::string& key) {
        say({.kind = MessageKind::get, .key = key});
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ending_ || values_.contains(key); });
        throw_if_ended();
        const std::string value = std::move(values_.extract(key).mapped());
        const auto* const bytes = reinterpret_cast<const std::byte*>(value.data());
        return {bytes, bytes + value.size()};
    }

    void check() const {
        const std::lock_guard lock(mutex_);
        throw_if_ended();
    }

    // Said at once too: what ends the rank may come before the next beat.
    void tell_place(std::function<Whereabouts()> where) {
        const bool somewhere = static_cast<bool>(where);
        {
            const std::lock_guard lock(where_mutex_);
            where_ = std::move(where);
        }
        if (somewhere) say_alive();
    }

    void when_stuck(std::function<void(const Ending&)> act) {
        const std::lock_guard lock(mutex_);
        when_stuck_ = std::move(act);
    }

    void fail(int exit_code, const std::string& why) {
        {
            const std::lock_guard lock(mutex_);
            noticed_ = true;
        }
        say({.kind = MessageKind::failed, .number = exit_code, .value = why});
        std::unique_lock lock(mutex_);  // the store tells everybody, this rank too
        changed_.wait_for(lock, settings_.silence, [&] { return ending_.has_value(); });
    }

    void leave() {
        say({.kind = MessageKind::leave});
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ending_ || goodbye_; });
        if (!goodbye_) throw_if_ended();
    }

    [[noreturn]] void lost(int peer) const {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, settings_.silence, [&] { return ending_.has_value(); });
        throw_if_ended();
        throw RunError(peer, "its connection closed");
    }

    int ended_descriptor() const { return ended_.number(); }
    std::string own_address() const { return local_end(socket_).host; }
    const RankPlace& place() const { return place_; }
    const RunSettings& settings() const { return settings_; }
    void set_local_rank(int local_rank) { place_.local_rank = local_rank; }

  private:
    void join() {
        if (place_.rank == 0 && !place_.launched_by_us)
            store_ = std::make_unique<Store>(listen_on(place_.store), settings_);
        const Deadline deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(settings_.join);
        socket_ = connect_to(place_.store, deadline);
        say({.kind = MessageKind::hello,
             .number = place_.rank,
             .count = place_.world,
             .key = place_.token,
             .value = settings_.version});
        while (!answer_) {
            pollfd wait{socket_.number(), POLLIN, 0};
            if (::poll(&wait, 1, 100) < 0 && errno != EINTR) throw NetworkError("poll failed");
            if (!read()) throw NetworkError(to_text(place_.store) + " closed the connection");
            if (Clock::now() > deadline) throw NetworkError(to_text(place_.store) + " does not answer");
        }
        if (answer_->kind == MessageKind::refused) refuse(answer_->value);
    }

    // The rank that does not fit knows it as the others will be told it.
    [[noreturn]] void refuse(const std::string& why) const {
        throw RunEnded({place_.rank, 2, fmt::format("{} ({})", why, to_text(place_.store))});
    }

    void say(const Message& message) {
        const std::string text = encoded(message);
        const std::lock_guard lock(send_mutex_);
        try {
            send_all(socket_, std::as_bytes(std::span(text)),
                     Clock::now() + std::chrono::duration_cast<Clock::duration>(settings_.silence));
        } catch (const NetworkError&) {  // found by the watch, with its reason
        }
    }

    void say_alive() {
        const Whereabouts here = where();
        say({.kind = MessageKind::alive, .number = here.within_step, .value = here.text});
    }

    void watch() {
        auto next_beat = Clock::now();
        Silence silence;
        while (!is_over()) {
            if (Clock::now() >= next_beat) {
                next_beat = Clock::now() + settings_.beat();
                say_alive();
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_beat - Clock::now());
            pollfd waits[] = {{socket_.number(), POLLIN, 0}, {wake_.number(), POLLIN, 0}};
            ::poll(waits, 2, static_cast<int>(std::max<std::int64_t>(0, left.count())));
            silence.tick(Clock::now(), settings_.beat());
            if (waits[0].revents != 0) {
                silence.heard();
                if (!read()) end(store_gone("closed its connection"));
            }
            if (silence.length() > settings_.silence)
                end(store_gone(fmt::format("has not been heard for {:.3g} s", settings_.silence.count())));
        }
        wait_until_noticed();
    }

    Ending store_gone(const std::string& how) const {
        if (place_.launched_by_us) return {place_.rank, 4, "the launcher " + how};
        return {0, 4, fmt::format("it keeps the run's store at {}, which {}", to_text(place_.store), how)};
    }

    bool is_over() const {
        const std::lock_guard lock(mutex_);
        return stopping_ || ending_ || goodbye_;
    }

    Whereabouts where() const {
        const std::lock_guard lock(where_mutex_);
        return where_ ? where_() : Whereabouts();
    }

    // False: the connection is closed.
    bool read() {
        return read_messages(socket_, in_, [this](const Message& message) { handle(message); });
    }

    void handle(const Message& message) {
        if (message.kind == MessageKind::ended)
            return end({static_cast<int>(message.count), static_cast<int>(message.number), message.value});
        const std::lock_guard lock(mutex_);
        if (message.kind == MessageKind::welcome || message.kind == MessageKind::refused) answer_ = message;
        if (message.kind == MessageKind::value) values_[message.key] = message.value;
        if (message.kind == MessageKind::goodbye) goodbye_ = true;
        changed_.notify_all();
    }

    void end(const Ending& ending) {
        const std::lock_guard lock(mutex_);
        if (ending_ || goodbye_) return;
        ending_ = ending;
        raise_event(ended_);
        changed_.notify_all();
    }

    void throw_if_ended() const {
        if (!ending_) return;
        noticed_ = true;
        throw RunEnded(*ending_);
    }

    void wait_until_noticed() {
        const auto patience = Clock::now() + kStuckAfter;
        std::unique_lock lock(mutex_);
        while (ending_ && !stopping_ && !noticed_) {
            changed_.wait_for(lock, 50ms);
            if (Clock::now() < patience || !when_stuck_) continue;
            const auto act = when_stuck_;
            const Ending ending = *ending_;
            lock.unlock();
            return act(ending);
        }
    }

    RankPlace place_;
    RunSettings settings_;
    std::unique_ptr<Store> store_;  // where this is rank 0 and keeps it
    Descriptor socket_;
    const Descriptor wake_, ended_;
    MessageReader in_{std::size_t{1} << 30};  // of the watch; of join() before
    std::mutex send_mutex_;
    mutable std::mutex where_mutex_;
    std::function<Whereabouts()> where_;
    mutable std::mutex mutex_;  // over all below
    mutable std::condition_variable changed_;
    std::map<std::string, std::string> values_;
    std::optional<Message> answer_;
    std::optional<Ending> ending_;
    bool goodbye_ = false, stopping_ = false;
    mutable bool noticed_ = false;
    std::function<void(const Ending&)> when_stuck_;
    std::thread watch_;
};

namespace {

// Ranks whose hosts have one name share a host.
int count_lower_ranks_here(TcpRendezvous& run) {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::string own(name.data());
    run.set(fmt::format("host/{}", run.rank()), std::as_bytes(std::span(own)));
    int count = 0;
    for (int rank = 0; rank < run.rank(); ++rank) {
        const auto other = run.get(fmt::format("host/{}", rank));
        count += std::string(reinterpret_cast<const char*>(other.data()), other.size()) == own;
    }
    return count;
}

}  // namespace

TcpRendezvous::TcpRendezvous(const RankPlace& place, const RunSettings& settings)
    : member_(std::make_unique<Member>(place, settings)) {
    if (place.local_rank < 0) member_->set_local_rank(count_lower_ranks_here(*this));
}
TcpRendezvous::~TcpRendezvous() = default;

int TcpRendezvous::rank() const { return member_->place().rank; }
int TcpRendezvous::world() const { return member_->place().world; }
int TcpRendezvous::local_rank() const { return member_->place().local_rank; }
void TcpRendezvous::set(const std::string& key, std::span<const std::byte> value) {
    member_->set(key, value);
}
std::vector<std::byte> TcpRendezvous::get(const std::string& key) { return member_->get(key); }
void TcpRendezvous::check() const { member_->check(); }
void TcpRendezvous::tell_place(std::function<Whereabouts()> where) { member_->tell_place(std::move(where)); }
void TcpRendezvous::when_stuck(std::function<void(const Ending&)> act) {
    member_->when_stuck(std::move(act));
}
void TcpRendezvous::fail(int exit_code, const std::string& why) { member_->fail(exit_code, why); }
void TcpRendezvous::leave() { member_->leave(); }
int TcpRendezvous::ended_descriptor() const { return member_->ended_descriptor(); }
void TcpRendezvous::lost(int peer) const { member_->lost(peer); }
std::string TcpRendezvous::own_address() const { return member_->own_address(); }
const RankPlace& TcpRendezvous::place() const { return member_->place(); }
const RunSettings& TcpRendezvous::settings() const { return member_->settings(); }

}  // namespace wirewise
