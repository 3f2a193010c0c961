#include "model/collectives/samples.hpp"

#include "model/collectives/tuning.hpp"
#include "model/topology/gpu.hpp"

namespace wirewise {
namespace {

// What goes through host memory or a socket is staged in NCCL's chunks. A broadcast uses one direction of
// NVLink, where the ramp was not seen.
CurveShape shape_of(const WireName& wire, CollectiveKind kind) {
    CurveShape shape;
    if (wire.transport != "p2p") shape.stage = kStagingChunk;
    if (wire.path.starts_with("NV") && kind != CollectiveKind::broadcast)
        shape = {0, limits_of(gpu_model(wire.gpu).compute_capability).ramp, kRampBytes};
    return shape;
}

}  // namespace

void CollectiveSamples::add(MeasuredCurve curve) {
    const CurveShape shape = shape_of(curve.wire, curve.kind);
    curves_.insert_or_assign({curve.wire, curve.kind}, CollectiveCurve(std::move(curve.samples), shape));
}

const CollectiveCurve* CollectiveSamples::find(const WireName& wire, CollectiveKind kind) const {
    const auto found = curves_.find({wire, kind});
    return found == curves_.end() ? nullptr : &found->second;
}

}  // namespace wirewise
