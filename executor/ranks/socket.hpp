// TCP between the processes of a run, over IPv4 and IPv6. Every wait is bounded.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

#include "executor/ranks/descriptor.hpp"

namespace wirewise {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

// A call failed, or the other side did not answer in time. Says what and with whom.
class NetworkError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Endpoint {
    std::string host;  // a name or an address, an IPv6 one without brackets
    int port = 0;
};
std::string to_text(const Endpoint& endpoint);

// Listens on all addresses, or on loopback alone where `host` is a loopback address. Port 0: any free one.
Descriptor listen_on(const Endpoint& endpoint);
// The next one who knocked; nothing when there is none. Neither blocks later.
Descriptor accept_from(const Descriptor& listener);
// Tries until the deadline: the one who listens may come later.
Descriptor connect_to(const Endpoint& endpoint, Deadline deadline);

Endpoint local_end(const Descriptor& socket);
bool is_loopback(const std::string& host);

// Wait for all bytes; a close by the other side is a NetworkError.
void send_all(const Descriptor& socket, std::span<const std::byte> bytes, Deadline deadline);
void receive_all(const Descriptor& socket, std::span<std::byte> bytes, Deadline deadline);

}  // namespace wirewise
