// A barrier of threads that can be torn down: when one member fails, the others do not wait for it for ever.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace wirewise {

// Thrown in the members that wait at a closed gate: not a failure of their own.
struct PeerFailed {};

class Gate {
  public:
    explicit Gate(int members) : members_(members) {}

    // Returns once all members have come. Throws PeerFailed when the gate is closed.
    void pass();
    // For good: those who wait and those who come later are turned away.
    void close();

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int members_, waiting_ = 0;
    std::uint64_t round_ = 0;
    bool closed_ = false;
};

}  // namespace wirewise
