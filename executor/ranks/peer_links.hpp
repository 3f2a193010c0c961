// A TCP connection from this rank to every other one. Used by one thread at a time; two ranks make the calls
// that concern each other in the same order, so that bytes need no labels.
#pragma once

#include <poll.h>

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "executor/ranks/tcp_rendezvous.hpp"

namespace wirewise {

class PeerLinks {
  public:
    // All ranks construct theirs. Throws RunError. `run` must outlive the links.
    explicit PeerLinks(TcpRendezvous& run);

    int rank() const { return run_.rank(); }
    int world() const { return run_.world(); }

    // Returns when the kernel has the bytes; what arrives meanwhile is kept. Throws RunEnded when the run
    // ends.
    void send(int to, std::span<const std::byte> bytes) { exchange(to, bytes, rank(), {}); }
    void receive(int from, std::span<std::byte> bytes) { exchange(rank(), {}, from, bytes); }
    // Both at once: around a ring everybody sends and receives.
    void exchange(int to, std::span<const std::byte> sent, int from, std::span<std::byte> received);

  private:
    struct Link {
        Descriptor socket;
        std::deque<std::byte> early;  // arrived before it was asked for
        bool closed = false;          // by the other side
    };
    Link& at(int rank) { return links_[static_cast<std::size_t>(rank)]; }
    void connect_all();
    void accept_one(const Descriptor& listener, Deadline deadline);
    void wait(int from, int to);
    bool push(int to, std::span<const std::byte>& bytes);
    void pull(int from, std::span<std::byte>& bytes);
    void keep_early(int from);

    TcpRendezvous& run_;
    std::vector<Link> links_;
    std::vector<pollfd> waits_;  // of wait()
};

}  // namespace wirewise
