#include "model/strategy/deepspeed/host_transfer.hpp"

#include <algorithm>

#include "model/strategy/deepspeed/kernels.hpp"

namespace wirewise {

using namespace deepspeed;

HostTransfer::HostTransfer(PytorchContext& context, StreamId host, const FlatLayout& layout)
    : context_(context), host_(host), layout_(layout), sum_offset_(context.weights.size()) {
    ProgramBuilder& build = context.build();
    std::int64_t largest = 0, own = 0;
    for (std::size_t i = 0; i < context.weights.size(); ++i) {
        const std::int64_t count = context.weights.all()[i].count();
        largest = std::max(largest, count);
        sum_offset_[i] = own;
        if (layout.is_own(static_cast<WeightId>(i))) own += count;
    }
    const auto on_host = [&](std::string_view name, std::int64_t count, Role role) {
        return build.on_host(Lifetime::persistent, name, bytes_of(count, type()), type(), role, host);
    };
    updated_ = on_host("updated 16-bit parameters", layout.partition(), Role::communication);
    host_scratch_ = on_host("gradient scratch on the host", largest, Role::gradient);
    gpu_scratch_ = build.persistent("gradient scratch", bytes_of(largest, type()), type(), Role::gradient,
                                    context.compute);
    if (context.plan().gradient_accumulation > 1)
        sums_ = on_host("accumulated gradients", own, Role::gradient);
}

void HostTransfer::load() {
    std::vector<BufferId> buffers{updated_, host_scratch_, gpu_scratch_};
    if (sums_) buffers.push_back(*sums_);
    context_.build().allocate(buffers);
}

void HostTransfer::take(WeightId weight, const Operand& gradient, StreamId stream, BufferId host_gradient) {
    if (sums_) accumulate(weight, gradient, stream);
    if (!context_.emission.last_micro_batch()) return;
    ProgramBuilder& build = context_.build();
    const FlatLayout::Range own = layout_.own_part(weight), all = layout_.of(weight);
    gradient_norm(context_, gradient, stream == context_.compute ? own.count() : 0);
    const Bytes fp32 = bytes_of(own.count(), DType::fp32);
    const BufferId cast = build.transient("gradient in fp32", fp32, DType::fp32, Role::workspace, stream);
    Operand slice = gradient;
    slice.offset += bytes_of(own.begin - all.begin, type());
    slice.bytes = bytes_of(own.count(), type());
    flat_op(context_, stream, "cast gradient", own.count(), slice.bytes + fp32, {slice, build.write(cast)});
    const std::int64_t at = own.begin % layout_.partition();
    build.copy(stream, "gradient to the host", {MemorySpace::device, MemorySpace::host, fp32},
               {build.read(cast), part(host_gradient, Access::write, at, own.count(), DType::fp32)});
}

void HostTransfer::accumulate(WeightId weight, const Operand& gradient, StreamId stream) {
    ProgramBuilder& build = context_.build();
    const std::int64_t count = context_.weights.at(weight).count();
    const Bytes bytes = bytes_of(count, type());
    const auto sum = [&](Access access) {
        return part(*sums_, access, sum_offset_[index_of(weight)], count, type());
    };
    if (context_.emission.micro_batch > 0) {
        const auto scratch = [&](Access access) { return part(gpu_scratch_, access, 0, count, type()); };
        build.copy(stream, "accumulated gradient from the host",
                   {MemorySpace::host, MemorySpace::device, bytes},
                   {sum(Access::read), scratch(Access::write)});
        Operand update = gradient;
        update.access = Access::update;
        flat_op(context_, stream, "accumulate gradient", count, bytes * 3, {scratch(Access::read), update});
    }
    if (context_.emission.last_micro_batch()) return;
    Operand read = gradient;
    read.access = Access::read;
    build.copy(stream, "accumulated gradient to the host", {MemorySpace::device, MemorySpace::host, bytes},
               {read, sum(Access::write)});
}

void HostTransfer::wait() {
    ProgramBuilder& build = context_.build();
    build.host_work(context_.compute, "wait for gradients", {HostWorkKind::synchronize, 1});
    build.join(host_, context_.compute);
}

void HostTransfer::give_back(BufferId master, std::int64_t count, const Operand& to) {
    ProgramBuilder& build = context_.build();
    const Bytes bytes = bytes_of(count, type());
    flat_op(context_, host_, "updated parameters to 16 bits", count, bytes + bytes_of(count, DType::fp32),
            {build.read(master), part(updated_, Access::write, 0, count, type())});
    build.host_work(host_, "CPU optimizer", {HostWorkKind::synchronize, 1});
    build.join(context_.compute, host_);
    build.copy(context_.compute, "updated parameters to the GPU",
               {MemorySpace::host, MemorySpace::device, bytes},
               {part(updated_, Access::read, 0, count, type()), to});
}

}  // namespace wirewise
