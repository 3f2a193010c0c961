#include "model/strategy/deepspeed/partition_reduce.hpp"

#include <utility>

#include "model/strategy/deepspeed/kernels.hpp"

namespace wirewise {

using namespace deepspeed;

PartitionReduce::PartitionReduce(PytorchContext& context, const Zero3Layout& layout,
                                 std::optional<StreamId> host, const FlatAdam& adam)
    : context_(context),
      layout_(layout),
      adam_(adam),
      reduce_(context.build().stream("reduce-scatter", StreamKind::communication)) {
    ProgramBuilder& build = context.build();
    const Bytes bytes = bytes_of(layout.own_count(), type());
    own_parts_ =
        adam.offloaded()
            ? build.on_host(Lifetime::persistent, "gradient partitions", bytes, type(), Role::gradient, *host)
            : build.persistent("gradient partitions", bytes, type(), Role::gradient, context.compute);
    if (keeps_bucket())
        bucket_ =
            build.persistent("reduce bucket", bucket_bytes(), type(), Role::communication, context.compute);
}

std::vector<BufferId> PartitionReduce::from_the_start() const {
    std::vector<BufferId> buffers{own_parts_};
    if (keeps_bucket()) buffers.push_back(*bucket_);
    return buffers;
}

Bytes PartitionReduce::bucket_bytes() const {
    return bytes_of(context_.plan().deepspeed.reduce_bucket_size, type());
}

// With the first gradient.
void PartitionReduce::make_bucket() {
    if (bucket_) return;
    ProgramBuilder& build = context_.build();
    bucket_ = build.transient("reduce bucket", bucket_bytes(), type(), Role::communication, context_.compute);
    build.allocate(*bucket_);
}

void PartitionReduce::add(WeightId weight, Tensor gradient) {
    context_.hook("gradient hook");
    const std::int64_t size = context_.plan().deepspeed.reduce_bucket_size, count = layout_.of(weight).count;
    if (filled_ > 0 && filled_ + count > size) reduce();
    context_.tape.storages.settle();
    make_bucket();
    if (filled_ + count > size) {
        large_.push_back(std::move(gradient));
    } else {
        flat_op(
            context_, context_.compute, "copy into bucket", count, gradient.bytes() * 2,
            {whole(context_, gradient, Access::read), part(*bucket_, Access::write, filled_, count, type())});
        context_.tape.storages.used_now(gradient);
    }
    members_.push_back(weight);
    filled_ += count;
}

void PartitionReduce::reduce() {
    if (members_.empty()) return;
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    std::int64_t padded = 0;
    for (const WeightId weight : members_) padded += layout_.of(weight).own_count * layout_.ranks();
    const Bytes bytes = bytes_of(padded, type());
    const BufferId input =
        build.transient("reduce-scatter input", bytes, type(), Role::communication, reduce_);
    build.join(reduce_, context_.compute);
    std::vector<Operand> operands{build.write(input)};
    if (large_.empty()) operands.push_back(part(*bucket_, Access::read, 0, filled_, type()));
    for (const Tensor& gradient : large_) operands.push_back(whole(context_, gradient, Access::read));
    flat_op(context_, reduce_, "concatenate parts", padded, bytes * 2, operands);
    build.join(context_.compute, reduce_);  // the bucket may be written again
    for (Tensor& gradient : large_) let_go(context_, gradient);
    large_.clear();
    flat_op(context_, reduce_, "divide", padded, bytes * 2, {build.update(input)});
    if (layout_.ranks() > 1) reduce_scatter(input);
    keep(std::exchange(members_, {}), input);
    filled_ = 0;
    if (!overlaps()) build.join(context_.compute, reduce_);
}

void PartitionReduce::reduce_scatter(BufferId input) {
    ProgramBuilder& build = context_.build();
    const auto scatter = [&](Bytes bytes, const Operand& operand) {
        build.collective(reduce_, "reduce-scatter gradients",
                         {CollectiveKind::reduce_scatter, Axis::shard, type(), bytes, false}, {operand});
    };
    if (!one_by_one()) return scatter(build.at(input).bytes, build.update(input));
    std::int64_t offset = 0;
    for (const WeightId weight : members_) {
        const std::int64_t count = layout_.of(weight).own_count * layout_.ranks();
        const Operand pieces = part(input, Access::update, offset, count, type());
        build.host_work(context_.compute, "slices and copies", {HostWorkKind::launches, 2 * layout_.ranks()});
        flat_op(context_, reduce_, "copy into pieces", count, pieces.bytes * 2, {pieces});
        scatter(pieces.bytes, pieces);
        offset += count;
    }
    build.host_work(reduce_, "reduced", {HostWorkKind::synchronize, 1});
}

// The own parts follow one another in this rank's share of the reduced buffer.
void PartitionReduce::keep(const std::vector<WeightId>& weights, BufferId reduced) {
    const Bytes all = context_.build().at(reduced).bytes;
    for (const WeightId weight : weights) {
        const Operand share{reduced, Access::read, layout_.ranks() > 1, Bytes(0), all};
        if (adam_.offloaded())
            keep_on_host(weight, share);
        else
            keep_on_gpu(weight, share);
    }
}

void PartitionReduce::keep_on_gpu(WeightId weight, const Operand& gradient) {
    const Zero3Weight& place = layout_.of(weight);
    const bool first = context_.emission.micro_batch == 0;
    const Bytes bytes = bytes_of(place.own_count, type());
    flat_op(context_, reduce_, first ? "keep gradient" : "accumulate gradient", place.own_count,
            bytes * (first ? 2 : 3),
            {gradient, part(own_parts_, first ? Access::write : Access::update, place.offset, place.own_count,
                            type())});
}

Operand PartitionReduce::host_gradient(WeightId weight) const {
    const Zero3Weight& place = layout_.of(weight);
    const auto groups = layout_.sub_groups();
    std::size_t group = 0;
    while (place.offset >= groups[group].offset + groups[group].count) ++group;
    return part(adam_.host_gradient(group), Access::write, place.offset - groups[group].offset,
                place.own_count, DType::fp32);
}

void PartitionReduce::keep_on_host(WeightId weight, const Operand& gradient) {
    ProgramBuilder& build = context_.build();
    const Zero3Weight& place = layout_.of(weight);
    const std::int64_t count = place.own_count;
    const Bytes bytes = bytes_of(count, type()), fp32 = bytes_of(count, DType::fp32);
    const auto on_host = [&](Access access) { return part(own_parts_, access, place.offset, count, type()); };
    const BufferId sum = build.transient("gradient part", bytes, type(), Role::workspace, reduce_);
    flat_op(context_, reduce_, "take gradient part", count, bytes * 2, {gradient, build.write(sum)});
    if (context_.emission.micro_batch > 0) {
        const BufferId earlier = build.transient("gradient so far", bytes, type(), Role::workspace, reduce_);
        build.copy(reduce_, "gradient so far from the host", {MemorySpace::host, MemorySpace::device, bytes},
                   {on_host(Access::read), build.write(earlier)});
        flat_op(context_, reduce_, "accumulate gradient", count, bytes * 3,
                {build.read(earlier), build.update(sum)});
    }
    build.copy(reduce_, "gradient to the host", {MemorySpace::device, MemorySpace::host, bytes},
               {build.read(sum), on_host(Access::write)});
    if (!context_.emission.last_micro_batch()) return;
    const BufferId cast = build.transient("gradient in fp32", fp32, DType::fp32, Role::workspace, reduce_);
    flat_op(context_, reduce_, "cast gradient", count, bytes + fp32, {build.read(sum), build.write(cast)});
    build.copy(reduce_, "fp32 gradient to the host", {MemorySpace::device, MemorySpace::host, fp32},
               {build.read(cast), host_gradient(weight)});
}

void PartitionReduce::end_backward() {
    reduce();
    context_.build().join(context_.compute, reduce_);
    context_.build().host_work(context_.compute, "end of backward", {HostWorkKind::synchronize, 1});
    if (bucket_ && !keeps_bucket()) context_.build().release(*std::exchange(bucket_, std::nullopt));
}

}  // namespace wirewise
