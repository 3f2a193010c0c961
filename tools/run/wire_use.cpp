#include "tools/run/wire_use.hpp"

#include <algorithm>
#include <cmath>

namespace wirewise {

namespace {

WireUse& use_of(std::vector<WireUse>& uses, const Collective& call) {
    const auto found = std::find_if(uses.begin(), uses.end(), [&](const WireUse& use) {
        return use.kind == call.kind && use.axis == call.axis;
    });
    if (found != uses.end()) return *found;
    uses.push_back({.kind = call.kind, .axis = call.axis});
    return uses.back();
}

}  // namespace

std::vector<WireUse> wire_uses(const StepProgram& program, const Prediction& prediction) {
    std::vector<WireUse> uses;
    const CollectiveCost wires = prediction.wires ? prediction.wires(prediction.profile) : CollectiveCost();
    for (const Op& op : program.ops) {
        const auto* call = std::get_if<Collective>(&op.payload);
        const int ranks = call ? program.axis_sizes[static_cast<std::size_t>(call->axis)] : 1;
        if (ranks < 2) continue;
        WireUse& use = use_of(uses, *call);
        if (use.calls++ == 0 && wires) use.transport = wires(call->axis, call->kind, call->bytes).transport;
        use.buffers += call->bytes;
        use.sent +=
            Bytes(std::llround(busbw_factor(call->kind, ranks) * static_cast<double>(call->bytes.count())));
    }
    return uses;
}

}  // namespace wirewise
