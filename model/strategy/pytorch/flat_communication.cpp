#include "model/strategy/pytorch/flat_communication.hpp"

#include <utility>

#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

namespace {

// Events that wait before a gather takes the oldest: _FreeEventQueue.
constexpr std::size_t kGathersInFlight = 2;
// What a training step leaves in the queue for the next one: its last layer and the root are let go after the
// last gather.
constexpr std::size_t kEventsLeft = 4;

// The part of a division by the number of ranks that precedes the sum: FSDP halves it between both sides.
std::int64_t factor_before(std::int64_t ranks) {
    std::int64_t factor = 1;
    while (ranks % factor == 0 && ranks / factor > factor) factor *= 2;
    return factor;
}

}  // namespace

FlatCommunication::FlatCommunication(PytorchContext& context)
    : context_(context),
      pre_unshard_(context.build().stream("pre-unshard", StreamKind::copy)),
      unshard_(context.build().stream("unshard", StreamKind::communication)),
      post_backward_(context.build().stream("post-backward", StreamKind::communication)),
      limiter_(context.build().stream("rate limiter", StreamKind::copy)) {
    if (replicates()) all_reduce_ = context.build().stream("all-reduce", StreamKind::communication);
    if (context.phase() != Phase::first_step) free_events_.resize(kEventsLeft);
}

void FlatCommunication::make_storages(const std::vector<FlatUnit>& units) {
    ProgramBuilder& build = context_.build();
    const auto make = [&](std::int64_t count, DType type) {
        const BufferId storage = build.transient("storage of a flat parameter", bytes_of(count, type), type,
                                                 Role::communication, context_.compute);
        build.allocate(storage);
        build.release(storage);
    };
    for (const FlatUnit& unit : units) {
        const bool casts = stored_type() != compute_type();
        if (casts) make(unit.shard_count, compute_type());
        make(unit.shard_count * ranks(), compute_type());
        if (casts) make(unit.shard_count * ranks(), stored_type());
    }
}

void FlatCommunication::begin_forward() {
    const EventId ready = context_.build().record(context_.compute);
    context_.build().wait(pre_unshard_, ready);
    context_.build().wait(unshard_, ready);
}

void FlatCommunication::in_communicator_order(StreamId stream) {
    if (last_stream_ && *last_stream_ != stream) context_.build().join(stream, *last_stream_);
    last_stream_ = stream;
}

// The host waits for the flat parameter let go two gathers ago.
void FlatCommunication::wait_for_limiter() {
    if (!context_.plan().limit_all_gathers || free_events_.size() < kGathersInFlight) return;
    const std::optional<EventId> oldest = free_events_.front();
    free_events_.pop_front();
    if (!oldest) return;
    context_.build().wait(limiter_, *oldest);
    context_.build().host_work(limiter_, "rate limiter", {HostWorkKind::synchronize, 1});
}

// What a gather sends: the shard, or a copy of it in the compute type.
Operand FlatCommunication::cast_shard(const FlatUnit& unit, std::optional<BufferId>& cast) {
    ProgramBuilder& build = context_.build();
    if (stored_type() == compute_type()) return build.read(unit.shard);
    const Bytes bytes = bytes_of(unit.shard_count, compute_type());
    cast = build.transient("cast shard", bytes, compute_type(), Role::communication, pre_unshard_);
    build.follow(*cast);
    build.compute(pre_unshard_, "cast shard",
                  vector_kernel(1, unit.shard_count, bytes + build.at(unit.shard).bytes, compute_type()),
                  {build.read(unit.shard), build.write(*cast)});
    build.join(unshard_, pre_unshard_);
    return build.read(*cast);
}

void FlatCommunication::gather(FlatUnit& unit) {
    if (unit.whole) return;
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    build.at_layer(unit.unit.layer);
    context_.hook("FSDP gather");
    std::optional<BufferId> cast;
    const Operand sent = cast_shard(unit, cast);
    wait_for_limiter();
    const Bytes bytes = bytes_of(unit.shard_count * ranks(), compute_type());
    unit.whole =
        build.transient("gathered flat parameter", bytes, compute_type(), Role::communication, unshard_);
    in_communicator_order(unshard_);
    build.collective(unshard_, "all-gather parameters",
                     {CollectiveKind::all_gather, Axis::shard, compute_type(), bytes, false},
                     {sent, build.write(*unit.whole)});
    if (cast) build.release(*cast);
    unit.arriving = true;
}

void FlatCommunication::finish_gather(FlatUnit& unit) {
    if (!std::exchange(unit.arriving, false)) return;
    context_.build().join(context_.compute, unshard_);
}

void FlatCommunication::reshard_in_forward(FlatUnit& unit) {
    if (!unit.whole) return;
    context_.build().follow(*unit.whole);
    let_go(unit, context_.compute);
}

void FlatCommunication::reshard_in_backward(FlatUnit& unit) {
    if (unit.whole) let_go(unit, unshard_);
}

void FlatCommunication::let_go(FlatUnit& unit, StreamId stream) {
    context_.tape.storages.settle();
    context_.build().release(*unit.whole);
    unit.whole.reset();
    if (context_.plan().limit_all_gathers) free_events_.emplace_back(context_.build().record(stream));
}

void FlatCommunication::join_gradients(FlatUnit& unit) {
    ProgramBuilder& build = context_.build();
    Storages& storages = context_.tape.storages;
    storages.settle();
    build.join(unshard_, context_.compute);
    const Bytes bytes = bytes_of(unit.count, compute_type());
    const BufferId flat = build.transient("flat gradient", bytes, compute_type(), Role::gradient, unshard_);
    std::vector<Operand> operands;
    for (const Tensor& gradient : unit.gradients) {
        const BufferId buffer = storages.use(gradient, Access::read).buffer;
        operands.push_back(build.read(buffer));
        build.follow(buffer);
    }
    operands.push_back(build.write(flat));
    build.compute(unshard_, "join gradients", vector_kernel(1, unit.count, 2 * bytes, compute_type()),
                  operands);
    for (Tensor& gradient : unit.gradients) {
        storages.used_now(gradient);
        gradient = {};
    }
    storages.settle();
    if (!unit.flat_gradient) {
        unit.flat_gradient = flat;
        return;
    }
    build.compute(unshard_, "accumulate flat gradient",
                  vector_kernel(1, unit.count, 3 * bytes, compute_type()),
                  {build.read(flat), build.update(*unit.flat_gradient)});
}

// The flat gradient in the reduce type, padded to the ranks: itself where it is both already.
BufferId FlatCommunication::reduce_input(const FlatUnit& unit) {
    ProgramBuilder& build = context_.build();
    BufferId input = *unit.flat_gradient;
    const auto copy = [&](std::string_view name, std::int64_t count) {
        const Bytes bytes = bytes_of(count, reduce_type());
        const BufferId next = build.transient("reduce-scatter input", bytes, reduce_type(),
                                              Role::communication, post_backward_);
        build.compute(post_backward_, name,
                      vector_kernel(1, unit.count, build.at(input).bytes + bytes, reduce_type()),
                      {build.read(input), build.write(next)});
        input = next;
    };
    if (reduce_type() != compute_type()) copy("cast gradient", unit.count);
    if (unit.shard_count * ranks() != unit.count) copy("pad gradient", unit.shard_count * ranks());
    return input;
}

void FlatCommunication::divide(BufferId buffer, std::int64_t factor) {
    if (factor == 1) return;
    ProgramBuilder& build = context_.build();
    const Bytes bytes = build.at(buffer).bytes;
    build.compute(post_backward_, "divide gradient",
                  vector_kernel(1, bytes.count() / size_of(reduce_type()), 2 * bytes, reduce_type()),
                  {build.update(buffer)});
}

void FlatCommunication::reduce(FlatUnit& unit) {
    ProgramBuilder& build = context_.build();
    context_.hook("FSDP reduce");
    build.join(post_backward_, unshard_);
    const BufferId input = reduce_input(unit);
    const BufferId shard = build.transient("sharded gradient", bytes_of(unit.shard_count, reduce_type()),
                                           reduce_type(), Role::gradient, post_backward_);
    divide(input, factor_before(ranks()));
    in_communicator_order(post_backward_);
    build.collective(
        post_backward_, "reduce-scatter gradients",
        {CollectiveKind::reduce_scatter, Axis::shard, reduce_type(), build.at(input).bytes, false},
        {build.read(input), build.write(shard)});
    divide(shard, ranks() / factor_before(ranks()));
    if (replicates()) all_reduce(shard);
    keep(unit, in_stored_type(unit, shard));
    if (input != *unit.flat_gradient) build.release(input);
    build.follow(*unit.flat_gradient);
    build.release(*unit.flat_gradient);
    unit.flat_gradient.reset();
}

// HYBRID_SHARD: across replicas, on its own stream, which goes on with the shard.
void FlatCommunication::all_reduce(BufferId shard) {
    ProgramBuilder& build = context_.build();
    build.join(all_reduce_, post_backward_);
    build.collective(
        all_reduce_, "all-reduce gradients",
        {CollectiveKind::all_reduce, Axis::replicate, reduce_type(), build.at(shard).bytes, true},
        {build.update(shard)});
    build.join(post_backward_, all_reduce_);
}

BufferId FlatCommunication::in_stored_type(const FlatUnit& unit, BufferId shard) {
    if (reduce_type() == stored_type()) return shard;
    ProgramBuilder& build = context_.build();
    const BufferId cast = build.transient("sharded gradient", bytes_of(unit.shard_count, stored_type()),
                                          stored_type(), Role::gradient, post_backward_);
    build.compute(
        post_backward_, "cast sharded gradient",
        vector_kernel(1, unit.shard_count, build.at(shard).bytes + build.at(cast).bytes, stored_type()),
        {build.read(shard), build.write(cast)});
    return cast;
}

// Kept as the gradient, or added to the one of earlier micro-batches.
void FlatCommunication::keep(FlatUnit& unit, BufferId shard) {
    if (!unit.sharded_gradient) {
        unit.sharded_gradient = shard;
        return;
    }
    ProgramBuilder& build = context_.build();
    build.compute(post_backward_, "accumulate sharded gradient",
                  vector_kernel(1, unit.shard_count, 3 * build.at(shard).bytes, stored_type()),
                  {build.read(shard), build.update(*unit.sharded_gradient)});
}

void FlatCommunication::finish_backward() { context_.build().join(context_.compute, post_backward_); }

void FlatCommunication::end_step(std::vector<FlatUnit>& units) {
    context_.build().join(post_backward_, context_.compute);
    for (FlatUnit& unit : units) {
        context_.build().release(*unit.sharded_gradient);
        unit.sharded_gradient.reset();
    }
}

}  // namespace wirewise
