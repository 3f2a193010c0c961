#include "simulator/simulate.hpp"

namespace wirewise {

const CollectivePricer& Wires::of(Axis axis) const {
    const CollectivePricer* pricer = axis == Axis::replicate ? replicate
                                     : axis == Axis::shard   ? shard
                                                             : world;
    ensure(pricer != nullptr, "the wires have a pricer for every axis that the program uses");
    return *pricer;
}

bool Wires::alone(Axis axis) const {
    return (axis == Axis::shard && !shard) || (axis == Axis::replicate && !replicate);
}

CollectivePrice Wires::operator()(Axis axis, CollectiveKind kind, Bytes bytes) const {
    return alone(axis) ? CollectivePrice{} : of(axis).price(kind, bytes);
}

}  // namespace wirewise
