// What is known to have finished when: vector clocks over a program's streams, advanced op by op in issue
// order. Issue order on the host orders nothing between streams; an event wait does, and so does the host
// waiting for a stream. Collectives of one axis share a communicator, which runs them in issue order whatever
// their streams are (NCCL chains the launches of a communicator), so each also follows the one before it.
#pragma once

#include <vector>

#include "model/program/program.hpp"

namespace wirewise {

class StreamOrder {
  public:
    // A point in issue order: "all ops of a stream before it have finished". 0: nothing is known.
    using Point = std::uint32_t;

    explicit StreamOrder(const StepProgram& program);

    // Call once per op, in order, before asking about the op itself. Returns true when some stream learnt
    // something about another one (a wait, a synchronisation).
    bool advance(const Op& op, std::size_t index);

    // Does what `stream` is given next run after op `index` of stream `earlier`?
    bool follows(StreamId stream, StreamId earlier, std::size_t index) const {
        return index < known(stream)[index_of(earlier)];
    }
    // What `stream` knows of every stream.
    const Point* known(StreamId stream) const { return &clocks_[index_of(stream) * streams_]; }
    std::size_t stream_count() const { return streams_; }

  private:
    Point* clock_of(StreamId stream) { return &clocks_[index_of(stream) * streams_]; }
    bool learn(Point* clock, const Point* news) const;
    bool wait_on_host(StreamId stream);
    bool take_turn(const Collective& call, Point* clock);

    std::size_t streams_;
    std::vector<Point> clocks_;         // stream x stream
    std::vector<Point> events_;         // event x stream
    std::vector<Point> communicators_;  // axis x stream: what follows from the axis's last collective
};

}  // namespace wirewise
