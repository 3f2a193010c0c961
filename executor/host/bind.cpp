#include <algorithm>
#include <cstring>
#include <utility>

#include "executor/host/binding.hpp"
#include "executor/host/kernels/attention.hpp"
#include "executor/training/convert.hpp"
#include "executor/training/operand_place.hpp"
#include "model/strategy/native/buffer_names.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

bool needs_widening(DType type) { return is_floating(type) && type != DType::fp32; }

// An operand that is computed on in fp32 but stored in fewer bits.
struct Widened {
    Place place;
    float* copy = nullptr;
    Access access = Access::read;
    std::span<float> values() const { return {copy, static_cast<std::size_t>(place.count())}; }
};

std::int64_t kernel_scratch(const StepProgram& program, const Op& op) {
    const auto* const compute = std::get_if<Compute>(&op.payload);
    if (!compute) return 0;
    const auto* const attention = std::get_if<Attention>(&program.at(compute->kernel));
    return attention ? host::attention_scratch(*attention) : 0;
}

std::int64_t widened_floats(const StepProgram& program, const Op& op) {
    if (!std::holds_alternative<Compute>(op.payload)) return 0;
    std::int64_t floats = 0;
    for (const Operand& operand : program.operands_of(op)) {
        const DType type = program.at(operand.buffer).dtype;
        if (needs_widening(type)) floats += operand.bytes.count() / size_of(type);
    }
    return floats;
}

class OpBinder {
  public:
    OpBinder(const RankBinding& binding, const Op& op)
        : binding_(binding), op_(op), operands_(binding.program.operands_of(op)) {}

    Work operator()(const Compute& compute) {
        std::vector<Values> values;
        std::vector<Widened> widened;
        float* scratch = binding_.scratch;
        for (const Operand& operand : operands_) {
            const Place place = place_of(binding_, operand);
            float* data = reinterpret_cast<float*>(place.data);
            if (needs_widening(place.dtype)) {
                widened.push_back({place, scratch, operand.access});
                data = std::exchange(scratch, scratch + place.count());
            }
            values.push_back({data, place.count(), operand.access == Access::update,
                              reinterpret_cast<const std::int32_t*>(place.data)});
        }
        Work work =
            bind_kernel(binding_, op_, binding_.program.at(compute.kernel), std::move(values), scratch);
        return widened.empty() ? work : around(std::move(work), std::move(widened));
    }

    Work operator()(const Collective& collective) {
        const Operand& from = operands_.front();
        const Operand& to = operands_.back();
        RankGroup& group = binding_.groups.along(collective.axis);
        CollectiveCall call{collective.kind,
                            collective.dtype,
                            collective.bytes.count() / size_of(collective.dtype),
                            collective.average,
                            place_of(binding_, from).data,
                            place_of(binding_, to).data};
        if (operands_.size() == 1) narrow_in_place(call, collective.bytes, group.size(), group.member());
        return [call, &group] { group.run(call); };
    }

    Work operator()(const Send& send) {
        RankGroup& group = binding_.groups.along(send.axis);
        const int peer = around_ring(group.member(), send.peer_offset, group.size());
        return [&group, peer, from = bytes(operands_.front())] { group.send(peer, from); };
    }
    Work operator()(const Receive& receive) {
        RankGroup& group = binding_.groups.along(receive.axis);
        const int peer = around_ring(group.member(), receive.peer_offset, group.size());
        return [&group, peer, to = bytes(operands_.front())] { group.receive(peer, to); };
    }

    // A host side without an operand is what the step was fed, or the device buffer's twin.
    Work operator()(const Copy& copy) {
        const Place source = place_of(binding_, operands_.front()),
                    target = place_of(binding_, operands_.back());
        const auto bytes = static_cast<std::size_t>(copy.bytes.count());
        const std::byte* from = source.data;
        std::byte* to = target.data;
        const bool both = operands_.size() == 2;
        if (copy.from == MemorySpace::host && !both) from = host_side(operands_.back());
        if (copy.to == MemorySpace::host && !both) to = twin_of(operands_.front());
        return [=] { std::memcpy(to, from, bytes); };
    }

    // One thread that runs ops in issue order satisfies every wait that verify() proves to be satisfiable,
    // and the arena is allocated before the first op.
    Work operator()(const Record&) { return {}; }
    Work operator()(const Wait&) { return {}; }
    Work operator()(const Allocate&) { return {}; }
    Work operator()(const Release&) { return {}; }
    Work operator()(const HostWork&) { return {}; }

  private:
    std::span<std::byte> bytes(const Operand& operand) const {
        const Place place = place_of(binding_, operand);
        return {place.data, static_cast<std::size_t>(place.bytes)};
    }

    // Widen, work, round: what the GPU does in registers.
    static Work around(Work work, std::vector<Widened> operands) {
        return [work = std::move(work), operands = std::move(operands)] {
            for (const Widened& operand : operands)
                if (operand.access != Access::write)
                    widen(operand.place.data, operand.place.dtype, operand.values());
            work();
            for (const Widened& operand : operands)
                if (operand.access != Access::read)
                    narrow(operand.values(), operand.place.dtype, operand.place.data);
        };
    }

    std::byte* twin_of(const Operand& operand) const {
        const Bytes whole = binding_.program.at(operand.buffer).bytes;
        return binding_.memory.twin(operand.buffer, whole) + operand.offset.count();
    }

    const std::byte* host_side(const Operand& operand) const {
        const std::string_view name = binding_.program.at(operand.buffer).name.text;
        const auto first = static_cast<std::size_t>(op_.micro_batch * binding_.plan.tokens_per_micro_batch());
        if (name == native_buffer::tokens) return bytes_of(binding_.feed.tokens, first);
        if (name == native_buffer::targets) return bytes_of(binding_.feed.targets, first);
        return twin_of(operand);
    }
    static const std::byte* bytes_of(const std::vector<std::int32_t>& ids, std::size_t first) {
        return reinterpret_cast<const std::byte*>(ids.data() + first);
    }

    const RankBinding& binding_;
    const Op& op_;
    std::span<const Operand> operands_;
};

}  // namespace

Place place_of(const RankBinding& binding, const Operand& operand) {
    const Buffer& buffer = binding.program.at(operand.buffer);
    const OperandRange range = range_of(binding.program, operand, binding.groups.along(Axis::shard).member());
    std::byte* const data = buffer.space == MemorySpace::host
                                ? binding.memory.twin(operand.buffer, buffer.bytes)
                                : binding.memory.at(operand.buffer);
    return {data ? data + range.offset : nullptr, range.bytes, buffer.dtype};
}

std::int64_t scratch_floats(const StepProgram& program) {
    std::int64_t most = 0;
    for (const Op& op : program.ops)
        most = std::max(most, kernel_scratch(program, op) + widened_floats(program, op));
    return most;
}

std::vector<BoundOp> bind(const RankBinding& binding) {
    std::vector<BoundOp> bound;
    for (std::size_t i = 0; i < binding.program.ops.size(); ++i) {
        const Op& op = binding.program.ops[i];
        bound.push_back({static_cast<OpId>(i), std::visit(OpBinder(binding, op), op.payload)});
    }
    return bound;
}

}  // namespace wirewise
