#include "executor/training/holdings.hpp"

#include <algorithm>

#include "model/strategy/native/buffer_names.hpp"

namespace wirewise {

std::optional<Holding> Holdings::find(std::string_view buffer, Unit unit, int shard) const {
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        const Buffer& there = program_.buffers[i];
        if (there.name.text != buffer || there.name.layer != unit.layer) continue;
        const std::int64_t count = there.bytes.count() / size_of(there.dtype);
        const bool whole = count == layout_.of(unit).padded();
        return Holding{static_cast<BufferId>(i), 0, whole ? 0 : count * shard, count, there.dtype};
    }
    return std::nullopt;
}

// ZeRO-1 reduces in place: the rank's share stands within the whole gradient.
Holding Holdings::gradient(Unit unit, int shard) const {
    if (const auto share = find(native_buffer::gradient_shard, unit, shard)) return *share;
    Holding whole = *find(native_buffer::gradients, unit, shard);
    if (!sharding_of(plan_.strategy).optimizer) return whole;
    whole.count /= plan_.mesh.shard;
    whole.offset = whole.first = whole.count * shard;
    return whole;
}

Overlap overlap_of(const Holding& held, Slice tensor) {
    const std::int64_t begin = std::max(held.first, tensor.offset);
    const std::int64_t end = std::min(held.first + held.count, tensor.offset + tensor.count);
    if (begin >= end) return {};
    return {held.offset + begin - held.first, begin - tensor.offset, end - begin};
}

}  // namespace wirewise
