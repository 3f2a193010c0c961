#include "model/strategy/deepspeed/gradient_bucket.hpp"

#include <utility>

#include "model/strategy/deepspeed/kernels.hpp"

namespace wirewise {

using namespace deepspeed;

GradientBucket::GradientBucket(PytorchContext& context, StreamId reduce, const FlatLayout& layout, Keep keep)
    : context_(context), reduce_(reduce), layout_(layout), keep_(std::move(keep)) {}

void GradientBucket::allocate() {
    if (!buffers_.empty()) return;
    for (int i = 0; i < (overlaps() ? 2 : 1); ++i)
        buffers_.push_back(context_.build().transient("reduce bucket", bytes_of(size(), type()), type(),
                                                      Role::communication, context_.compute));
    context_.tape.storages.settle();
    context_.build().allocate(buffers_);
}

void GradientBucket::add(WeightId weight, Tensor gradient) {
    allocate();
    context_.hook("gradient hook");
    const std::int64_t count = context_.weights.at(weight).count();
    if (filled_ > 0 && filled_ + count > size()) {
        reduce();
        if (overlaps()) current_ = 1 - current_;
    }
    if (count > size()) {
        large_ = std::move(gradient);
    } else {
        context_.tape.storages.settle();
        flat_op(context_, context_.compute, "copy into bucket", count, gradient.bytes() * 2,
                {whole(context_, gradient, Access::read),
                 part(buffers_[current_], Access::write, filled_, count, type())});
        context_.tape.storages.used_now(gradient);
    }
    members_.push_back(weight);
    filled_ += count;
}

Operand GradientBucket::contents() const {
    if (large_.defined()) return whole(context_, large_, Access::update);
    return part(buffers_[current_], Access::update, 0, filled_, type());
}

void GradientBucket::reduce() {
    if (members_.empty()) return;
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    const StreamId stream = overlaps() ? reduce_ : context_.compute;
    if (overlaps()) {
        build.join(context_.compute, reduce_);  // the bucket before this one is done
        let_go_of_large();
        build.join(reduce_, context_.compute);
    }
    average(contents());
    std::int64_t offset = 0;
    for (const WeightId weight : members_) {
        const std::int64_t count = context_.weights.at(weight).count();
        if (layout_.is_own(weight))
            keep_(weight, part(contents().buffer, Access::read, offset, count, type()), stream);
        offset += count;
    }
    if (large_.defined()) in_flight_.push_back(std::exchange(large_, {}));
    if (!overlaps()) let_go_of_large();
    members_.clear();
    filled_ = 0;
}

void GradientBucket::let_go_of_large() {
    for (Tensor& gradient : in_flight_) let_go(context_, gradient);
    in_flight_.clear();
}

void GradientBucket::average(const Operand& gradients) {
    ProgramBuilder& build = context_.build();
    const StreamId stream = overlaps() ? reduce_ : context_.compute;
    flat_op(context_, stream, "divide bucket", filled_, gradients.bytes * 2, {gradients});
    if (context_.plan().mesh.world() == 1) return;
    if (layout_.partitions_touched(members_) < 2) return all_reduce(gradients, stream);
    const BufferId flat =
        build.transient("flattened bucket", gradients.bytes, type(), Role::communication, stream);
    Operand read = gradients, write = gradients;
    read.access = Access::read;
    write.access = Access::write;
    flat_op(context_, stream, "flatten bucket", filled_, gradients.bytes * 2, {read, build.write(flat)});
    all_reduce(build.update(flat), stream);
    std::int64_t own = 0;
    for (const WeightId weight : members_) own += layout_.own_part(weight).count();
    flat_op(context_, stream, "copy own part back", own, bytes_of(2 * own, type()),
            {build.read(flat), write});
    build.release(flat);
}

void GradientBucket::all_reduce(const Operand& gradients, StreamId stream) {
    ProgramBuilder& build = context_.build();
    const bool aside = stream != reduce_;
    if (aside) build.join(reduce_, stream);
    build.collective(reduce_, "all-reduce gradients",
                     {CollectiveKind::all_reduce, Axis::shard, type(), gradients.bytes, false}, {gradients});
    if (aside) build.join(stream, reduce_);
}

void GradientBucket::finish() {
    reduce();
    ProgramBuilder& build = context_.build();
    if (overlaps()) {
        build.join(context_.compute, reduce_);
        build.host_work(context_.compute, "end of backward", {HostWorkKind::synchronize, 1});
        let_go_of_large();
    }
    context_.tape.storages.settle();
    if (!buffers_.empty()) build.release(buffers_);
    buffers_.clear();
    current_ = 0;
}

}  // namespace wirewise
