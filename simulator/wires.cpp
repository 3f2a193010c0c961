#include "simulator/simulate.hpp"

namespace wirewise {

const CollectivePricer& Wires::of(Axis axis) const {
    const CollectivePricer* pricer = axis == Axis::replicate ? replicate
                                     : axis == Axis::shard   ? shard
                                                             : world;
    ensure(pricer != nullptr, "the wires have a pricer for every axis that the program uses");
    return *pricer;
}

CollectivePrice Wires::operator()(Axis axis, CollectiveKind kind, Bytes bytes) const {
    // Alone along an axis (HSDP's degenerate forms), a rank calls nobody.
    const bool alone = (axis == Axis::shard && !shard) || (axis == Axis::replicate && !replicate);
    return alone ? CollectivePrice{} : of(axis).price(kind, bytes);
}

}  // namespace wirewise
