#include "model/program/stream_order.hpp"

#include <algorithm>

namespace wirewise {

StreamOrder::StreamOrder(const StepProgram& program)
    : streams_(program.streams.size()),
      clocks_(streams_ * streams_, 0),
      events_(streams_ * program.event_count, 0),
      communicators_(streams_ * kAxisCount, 0) {}

bool StreamOrder::learn(Point* clock, const Point* news) const {
    bool learnt = false;
    for (std::size_t i = 0; i < streams_; ++i) {
        learnt |= news[i] > clock[i];
        clock[i] = std::max(clock[i], news[i]);
    }
    return learnt;
}

bool StreamOrder::wait_on_host(StreamId stream) {
    bool learnt = false;
    for (std::size_t i = 0; i < streams_; ++i) learnt |= learn(&clocks_[i * streams_], known(stream));
    return learnt;
}

bool StreamOrder::take_turn(const Collective& call, Point* clock) {
    Point* communicator = &communicators_[static_cast<std::size_t>(call.axis) * streams_];
    const bool learnt = learn(clock, communicator);
    std::copy_n(clock, streams_, communicator);
    return learnt;
}

bool StreamOrder::advance(const Op& op, std::size_t index) {
    if (std::holds_alternative<Allocate>(op.payload) || std::holds_alternative<Release>(op.payload))
        return false;
    Point* clock = clock_of(op.stream);
    clock[index_of(op.stream)] = static_cast<Point>(index + 1);
    if (const auto* record = std::get_if<Record>(&op.payload)) {
        std::copy_n(clock, streams_, &events_[index_of(record->event) * streams_]);
        return false;
    }
    if (const auto* wait = std::get_if<Wait>(&op.payload))
        return learn(clock, &events_[index_of(wait->event) * streams_]);
    if (const auto* call = std::get_if<Collective>(&op.payload)) return take_turn(*call, clock);
    const auto* work = std::get_if<HostWork>(&op.payload);
    return work != nullptr && work->kind == HostWorkKind::synchronize && wait_on_host(op.stream);
}

}  // namespace wirewise
