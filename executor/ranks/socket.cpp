#include "executor/ranks/socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

namespace wirewise {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

[[noreturn]] void fail(const std::string& call, int error) {
    throw NetworkError(fmt::format("{}: {}", call, std::strerror(error)));
}

Addresses resolve(const Endpoint& endpoint, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(endpoint.port);
    const int error =
        getaddrinfo(endpoint.host.empty() ? nullptr : endpoint.host.c_str(), port.c_str(), &hints, &found);
    if (error != 0)
        throw NetworkError(
            fmt::format("the host \"{}\" is not known: {}", endpoint.host, gai_strerror(error)));
    return {found, &freeaddrinfo};
}

Descriptor open_socket(const addrinfo& address) {
    return Descriptor(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Small messages leave at once; a host that vanished is noticed by the kernel too.
void set_usual_options(const Descriptor& socket) {
    const int on = 1;
    setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket.number(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

// False: not before the deadline.
bool wait_for(const Descriptor& socket, short events, Deadline deadline) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd entry{socket.number(), events, 0};
        const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left, 1 << 30)));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) fail("poll", errno);
    }
}

// The error of an attempt; 0: connected.
int try_to_connect(const addrinfo& address, Deadline deadline, Descriptor& socket) {
    socket = open_socket(address);
    if (!socket) return errno;
    if (::connect(socket.number(), address.ai_addr, address.ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    if (!wait_for(socket, POLLOUT, deadline)) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

int bind_and_listen(const addrinfo& address, Descriptor& socket) {
    constexpr int kBacklog = 1024;
    socket = open_socket(address);
    if (!socket) return errno;
    const int on = 1, off = 0;
    setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.ai_family == AF_INET6)
        setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (::bind(socket.number(), address.ai_addr, address.ai_addrlen) != 0) return errno;
    return ::listen(socket.number(), kBacklog) == 0 ? 0 : errno;
}

}  // namespace

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

std::string to_text(const Endpoint& endpoint) {
    const bool six = endpoint.host.find(':') != std::string::npos;
    const std::string host = six ? fmt::format("[{}]", endpoint.host) : endpoint.host;
    return fmt::format("{}:{}", host, endpoint.port);
}

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || host.starts_with("127.") ||
           host.starts_with("::ffff:127.");
}

Descriptor listen_on(const Endpoint& endpoint) {
    const bool loopback = is_loopback(endpoint.host);
    const Addresses all = resolve(loopback ? endpoint : Endpoint{"", endpoint.port}, AI_PASSIVE);
    int error = EADDRNOTAVAIL;
    for (const int family : {AF_INET6, AF_INET})  // one IPv6 socket takes both where there is IPv6
        for (const addrinfo* address = all.get(); address; address = address->ai_next) {
            if (address->ai_family != family) continue;
            Descriptor socket;
            error = bind_and_listen(*address, socket);
            if (error == 0) return socket;
            if (error == EADDRINUSE) break;
        }
    throw NetworkError(fmt::format("cannot listen on {}: {}", to_text(endpoint), std::strerror(error)));
}

Descriptor accept_from(const Descriptor& listener) {
    Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) set_usual_options(socket);
    return socket;
}

Descriptor connect_to(const Endpoint& endpoint, Deadline deadline) {
    constexpr std::chrono::milliseconds kPause{50};
    int error = ETIMEDOUT;
    do {
        const Addresses all = resolve(endpoint, 0);
        for (const addrinfo* address = all.get(); address; address = address->ai_next) {
            Descriptor socket;
            error = try_to_connect(*address, deadline, socket);
            if (error != 0) continue;
            set_usual_options(socket);
            return socket;
        }
        std::this_thread::sleep_for(kPause);
    } while (Clock::now() < deadline);
    throw NetworkError(fmt::format("nobody answers at {}: {}", to_text(endpoint), std::strerror(error)));
}

Endpoint local_end(const Descriptor& socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (getsockname(socket.number(), generic, &size) != 0) fail("getsockname", errno);
    const int error =
        getnameinfo(generic, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    if (error != 0) throw NetworkError(gai_strerror(error));
    return {host, std::stoi(port)};
}

void send_all(const Descriptor& socket, std::span<const std::byte> bytes, Deadline deadline) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
        if (sent >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) fail("send", errno);
        if (!wait_for(socket, POLLOUT, deadline)) fail("send", ETIMEDOUT);
    }
}

void receive_all(const Descriptor& socket, std::span<std::byte> bytes, Deadline deadline) {
    while (!bytes.empty()) {
        const ssize_t got = ::recv(socket.number(), bytes.data(), bytes.size(), 0);
        if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
        if (got > 0 || (got < 0 && errno == EINTR)) continue;
        if (got == 0) throw NetworkError("the other side closed the connection");
        if (errno != EAGAIN && errno != EWOULDBLOCK) fail("recv", errno);
        if (!wait_for(socket, POLLIN, deadline)) fail("recv", ETIMEDOUT);
    }
}

}  // namespace wirewise
