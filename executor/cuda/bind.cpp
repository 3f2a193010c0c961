#include "executor/cuda/binding.hpp"
#include "executor/training/operand_place.hpp"
#include "model/strategy/native/buffer_names.hpp"

namespace wirewise::cuda {

namespace {

// The address range of an operand, the rank's own share resolved.
struct Place {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    DType dtype = DType::fp32;
};

Place place_of(const RankBinding& binding, const Operand& operand) {
    const OperandRange range = range_of(binding.program, operand, binding.groups.member(Axis::shard));
    std::byte* const buffer = binding.memory.at(operand.buffer);
    return {buffer ? buffer + range.offset : nullptr, range.bytes, binding.program.at(operand.buffer).dtype};
}

class OpBinder {
  public:
    OpBinder(const RankBinding& binding, const Op& op)
        : binding_(binding), op_(op), operands_(binding.program.operands_of(op)) {}

    Work operator()(const Compute& compute) {
        std::vector<Values> values;
        for (const Operand& operand : operands_) {
            const Place place = place_of(binding_, operand);
            values.push_back({{place.data, place.dtype},
                              place.bytes / size_of(place.dtype),
                              operand.access == Access::update});
        }
        Scratch& scratch = binding_.scratch[index_of(op_.stream)];
        return bind_kernel({binding_, op_, scratch}, binding_.program.at(compute.kernel), values);
    }

    Work operator()(const Collective& collective) {
        CollectiveCall call{collective.kind,
                            collective.dtype,
                            collective.bytes.count() / size_of(collective.dtype),
                            collective.average,
                            place_of(binding_, operands_.front()).data,
                            place_of(binding_, operands_.back()).data};
        if (operands_.size() == 1)
            narrow_in_place(call, collective.bytes, binding_.groups.size(collective.axis),
                            binding_.groups.member(collective.axis));
        return [call, axis = collective.axis, &groups = binding_.groups](cudaStream_t stream) {
            groups.run(axis, call, stream);
        };
    }
    Work operator()(const Send& send) {
        const int peer = peer_along(send.axis, send.peer_offset);
        return [peer, axis = send.axis, from = bytes(operands_.front()),
                &groups = binding_.groups](cudaStream_t stream) { groups.send(axis, peer, from, stream); };
    }
    Work operator()(const Receive& receive) {
        const int peer = peer_along(receive.axis, receive.peer_offset);
        return [peer, axis = receive.axis, to = bytes(operands_.front()),
                &groups = binding_.groups](cudaStream_t stream) { groups.receive(axis, peer, to, stream); };
    }

    // The host side is what the step was fed, or the device buffer's twin.
    Work operator()(const Copy& copy) {
        const void* from = place_of(binding_, operands_.front()).data;
        void* to = place_of(binding_, operands_.back()).data;
        if (copy.from == MemorySpace::host) from = host_side(operands_.back());
        if (copy.to == MemorySpace::host) to = twin_of(operands_.front());
        return [=, bytes = static_cast<std::size_t>(copy.bytes.count())](cudaStream_t stream) {
            check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
        };
    }

    Work operator()(const Record& record) {
        return [event = binding_.events[index_of(record.event)].get()](cudaStream_t stream) {
            check(cudaEventRecord(event, stream), "cudaEventRecord");
        };
    }
    Work operator()(const Wait& wait) {
        return [event = binding_.events[index_of(wait.event)].get()](cudaStream_t stream) {
            check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
        };
    }
    // The arena is allocated before the first op.
    Work operator()(const Allocate&) { return {}; }
    Work operator()(const Release&) { return {}; }
    Work operator()(const HostWork& work) {
        if (work.kind != HostWorkKind::synchronize) return {};
        return [](cudaStream_t stream) { check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); };
    }

  private:
    int peer_along(Axis axis, int offset) const {
        return around_ring(binding_.groups.member(axis), offset, binding_.groups.size(axis));
    }
    std::span<std::byte> bytes(const Operand& operand) const {
        const Place place = place_of(binding_, operand);
        return {place.data, static_cast<std::size_t>(place.bytes)};
    }

    std::byte* twin_of(const Operand& operand) const {
        const Bytes whole = binding_.program.at(operand.buffer).bytes;
        return binding_.memory.twin(operand.buffer, whole) + operand.offset.count();
    }
    const void* host_side(const Operand& operand) const {
        const std::string_view name = binding_.program.at(operand.buffer).name.text;
        const std::int64_t first = op_.micro_batch * binding_.plan.tokens_per_micro_batch();
        if (name == native_buffer::tokens) return binding_.feed.tokens() + first;
        if (name == native_buffer::targets) return binding_.feed.targets() + first;
        return twin_of(operand);
    }

    const RankBinding& binding_;
    const Op& op_;
    std::span<const Operand> operands_;
};

}  // namespace

std::vector<BoundOp> bind(const RankBinding& binding) {
    std::vector<BoundOp> bound;
    for (std::size_t i = 0; i < binding.program.ops.size(); ++i) {
        const Op& op = binding.program.ops[i];
        bound.push_back({static_cast<OpId>(i), std::visit(OpBinder(binding, op), op.payload)});
    }
    return bound;
}

}  // namespace wirewise::cuda
