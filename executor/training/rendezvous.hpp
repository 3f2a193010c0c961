// Where the ranks of a run find one another before they can talk over their devices' wires: who this process
// is, and a store of small messages that all of them can read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace wirewise {

class Rendezvous {
  public:
    virtual ~Rendezvous() = default;
    virtual int rank() const = 0;
    virtual int world() const = 0;
    virtual int local_rank() const = 0;  // among the ranks of this host: which device it takes

    // Each key is set once in a run, by one rank.
    virtual void set(const std::string& key, std::span<const std::byte> value) = 0;
    // Waits until a rank has set it. Throws RunError when that takes too long or the run has failed.
    virtual std::vector<std::byte> get(const std::string& key) = 0;

    // Throws RunError when the run has failed elsewhere: asked again and again by who waits for a device.
    virtual void check() const = 0;
};

}  // namespace wirewise
