#include "executor/ranks/peer_links.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "executor/ranks/message.hpp"

namespace wirewise {

namespace {

std::string key_of(int rank) { return fmt::format("link/{}", rank); }

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// What a rank that connects says first: who it is, and that it is of this run.
struct Greeting {
    std::int64_t rank = 0;
    std::uint64_t token = 0;
};
std::uint64_t number_of(const std::string& token) { return std::hash<std::string>{}(token); }

Endpoint endpoint_from(const std::vector<std::byte>& value) {
    const std::string text(reinterpret_cast<const char*>(value.data()), value.size());
    const std::size_t blank = text.rfind(' ');
    return {text.substr(0, blank), std::stoi(text.substr(blank + 1))};
}

}  // namespace

PeerLinks::PeerLinks(TcpRendezvous& run) : run_(run), links_(static_cast<std::size_t>(run.world())) {
    try {
        connect_all();
    } catch (const NetworkError& error) {
        throw RunError(run.rank(), fmt::format("cannot connect to the other ranks: {}", error.what()));
    }
}

// To lower ranks; higher ones come. Who talks to the store over loopback is on the store's host.
void PeerLinks::connect_all() {
    const Deadline deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(run_.settings().join);
    const Endpoint store = run_.place().store;
    const Descriptor listener = listen_on({is_loopback(store.host) ? store.host : "", 0});
    const std::string own = fmt::format("{} {}", run_.own_address(), local_end(listener).port);
    run_.set(key_of(rank()), bytes_of(own));
    const Greeting greeting{rank(), number_of(run_.place().token)};
    for (int peer = 0; peer < rank(); ++peer) {
        Endpoint there = endpoint_from(run_.get(key_of(peer)));
        if (is_loopback(there.host)) there.host = store.host;
        at(peer).socket = connect_to(there, deadline);
        send_all(at(peer).socket, std::as_bytes(std::span(&greeting, 1)), deadline);
    }
    const auto missing = [&] {
        return std::any_of(links_.begin() + rank() + 1, links_.end(),
                           [](const Link& link) { return !link.socket; });
    };
    while (missing()) accept_one(listener, deadline);
}

void PeerLinks::accept_one(const Descriptor& listener, Deadline deadline) {
    run_.check();
    pollfd waits[] = {{listener.number(), POLLIN, 0}, {run_.ended_descriptor(), POLLIN, 0}};
    ::poll(waits, 2, 100);
    if (Clock::now() > deadline) throw NetworkError("not all of them came in time");
    Descriptor socket = accept_from(listener);
    if (!socket) return;
    Greeting greeting;
    try {
        receive_all(socket, std::as_writable_bytes(std::span(&greeting, 1)),
                    Clock::now() + std::chrono::seconds(2));
    } catch (const NetworkError&) {
        return;  // no rank
    }
    const bool known =
        greeting.token == number_of(run_.place().token) && greeting.rank > rank() && greeting.rank < world();
    if (known) at(static_cast<int>(greeting.rank)).socket = std::move(socket);
}

void PeerLinks::exchange(int to, std::span<const std::byte> sent, int from, std::span<std::byte> received) {
    for (;;) {
        const bool stuck = !push(to, sent);
        pull(from, received);
        if (sent.empty() && received.empty()) return;
        wait(received.empty() ? rank() : from, stuck ? to : rank());
    }
}

// Until something can move; this rank itself stands for nobody. While it cannot send, others may be unable to
// send to it for the same reason: what they have is taken in.
void PeerLinks::wait(int from, int to) {
    waits_.assign({{run_.ended_descriptor(), POLLIN, 0}});
    for (int peer = 0; peer < world(); ++peer) {
        const bool heard = peer == from || to != rank();
        if (peer == rank() || !heard || at(peer).closed) continue;
        waits_.push_back(
            {at(peer).socket.number(), static_cast<short>(peer == to ? POLLIN | POLLOUT : POLLIN), 0});
    }
    while (::poll(waits_.data(), waits_.size(), -1) < 0 && errno == EINTR) {
    }
    if (waits_.front().revents != 0) run_.check();
    if (to == rank()) return;
    for (int peer = 0; peer < world(); ++peer)
        if (peer != rank() && peer != from) keep_early(peer);
}

// False: the kernel takes no more at present.
bool PeerLinks::push(int to, std::span<const std::byte>& bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(at(to).socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
        if (sent >= 0 || errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
        run_.lost(to);
    }
    return true;
}

void PeerLinks::pull(int from, std::span<std::byte>& bytes) {
    if (bytes.empty()) return;
    std::deque<std::byte>& early = at(from).early;
    const std::size_t kept = std::min(bytes.size(), early.size());
    std::copy_n(early.begin(), kept, bytes.begin());
    early.erase(early.begin(), early.begin() + static_cast<std::ptrdiff_t>(kept));
    bytes = bytes.subspan(kept);
    while (!bytes.empty()) {
        const ssize_t got = ::recv(at(from).socket.number(), bytes.data(), bytes.size(), 0);
        if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
        if (got > 0 || (got < 0 && errno == EINTR)) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        run_.lost(from);
    }
}

// A rank that has closed its end is lost to who still needs it: pull() and push() find that out.
void PeerLinks::keep_early(int from) {
    Link& link = at(from);
    if (link.closed) return;
    std::array<std::byte, 1 << 16> bytes;
    const ssize_t got = ::recv(link.socket.number(), bytes.data(), bytes.size(), 0);
    if (got > 0) link.early.insert(link.early.end(), bytes.begin(), bytes.begin() + got);
    link.closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace wirewise
