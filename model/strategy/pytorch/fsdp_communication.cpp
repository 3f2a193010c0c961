#include "model/strategy/pytorch/fsdp_communication.hpp"

#include "model/strategy/pytorch/multi_tensor.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

namespace {

// Passes of Python over a group's parameters: for a gather the inputs, their sizes, the outputs' views and
// the swap of the modules' parameters; for a reduction the gradients, the swap, the chunks and the shards'
// views. A hook is one.
constexpr std::int32_t kPassesPerCollective = 4;

}  // namespace

FsdpCommunication::FsdpCommunication(PytorchContext& context)
    : context_(context),
      copy_in_(context.build().stream("all-gather copy-in", StreamKind::copy)),
      gather_(context.build().stream("all-gather", StreamKind::communication)),
      reduce_(context.build().stream("reduce-scatter", StreamKind::communication)) {
    if (replicates()) all_reduce_ = context.build().stream("all-reduce", StreamKind::communication);
}

void FsdpCommunication::gather_streams_wait(EventId event) {
    context_.build().wait(copy_in_, event);
    context_.build().wait(gather_, event);
}

void FsdpCommunication::begin_step() { gather_streams_wait(context_.build().record(context_.compute)); }

void FsdpCommunication::in_communicator_order(StreamId stream) {
    if (last_stream_ && *last_stream_ != stream) context_.build().join(stream, *last_stream_);
    last_stream_ = stream;
}

// fp32 shards: one flat buffer in the compute type, which lives for the copy-in only.
BufferId FsdpCommunication::cast_shards(const FsdpGroup& group) {
    ProgramBuilder& build = context_.build();
    const bool on_host = context_.plan().offload.parameters;
    const std::optional<BufferId> brought = on_host ? std::optional(shards_to_gpu(group)) : std::nullopt;
    const BufferId flat = build.transient("cast shards", bytes_of(group.shard_count, compute_type()),
                                          compute_type(), Role::communication, copy_in_);
    if (brought)
        build.compute(copy_in_, "cast shards",
                      vector_kernel(1, group.shard_count, build.at(*brought).bytes + build.at(flat).bytes,
                                    compute_type()),
                      {build.read(*brought), build.write(flat)});
    else
        foreach_copy(group, "cast shards", std::nullopt, flat);
    return flat;
}

// CPUOffloadPolicy: the shards, pinned in host memory, are copied to the GPU for every gather.
BufferId FsdpCommunication::shards_to_gpu(const FsdpGroup& group) {
    ProgramBuilder& build = context_.build();
    const BufferId flat = build.transient("shards on the GPU", bytes_of(group.shard_count, stored_type()),
                                          stored_type(), Role::communication, copy_in_);
    std::int64_t offset = 0;
    for (const ShardedWeight& weight : group.weights) {
        const Bytes bytes = bytes_of(weight.shard_count, stored_type());
        build.copy(copy_in_, "shard to the GPU", {MemorySpace::host, MemorySpace::device, bytes},
                   {build.read(weight.shard),
                    Operand{flat, Access::write, false, bytes_of(offset, stored_type()), bytes}});
        offset += weight.shard_count;
    }
    return flat;
}

// _foreach_copy_ of the shards (or, when `from` is given, of their casts) into the rank's part of `into`.
void FsdpCommunication::foreach_copy(const FsdpGroup& group, std::string_view name,
                                     std::optional<BufferId> from, BufferId into) {
    ProgramBuilder& build = context_.build();
    const bool casting = !from;
    std::vector<std::int64_t> counts, starts;
    std::int64_t start = 0;
    for (const ShardedWeight& weight : group.weights) {
        counts.push_back(weight.shard_count);
        starts.push_back(start);
        start += weight.shard_count;
    }
    const std::int64_t read = size_of(casting ? stored_type() : compute_type()),
                       write = size_of(compute_type());
    const bool whole_output = build.at(into).bytes != bytes_of(group.shard_count, compute_type());
    for_each_launch(counts, 2, [&](const std::vector<TensorPart>& launch) {
        std::vector<Operand> operands;
        std::int64_t count = 0;
        for (const TensorPart& part : launch) {
            const std::int64_t at = starts[part.tensor] + part.offset;
            if (casting)
                operands.push_back({group.weights[part.tensor].shard, Access::read, false,
                                    Bytes(read) * part.offset, Bytes(read) * part.count});
            else
                operands.push_back({*from, Access::read, false, Bytes(read) * at, Bytes(read) * part.count});
            if (!whole_output)
                operands.push_back(
                    {into, Access::write, false, Bytes(write) * at, Bytes(write) * part.count});
            count += part.count;
        }
        if (whole_output) operands.push_back({into, Access::write, true, Bytes(0), build.at(into).bytes});
        build.compute(copy_in_, name, vector_kernel(1, count, Bytes(read + write) * count, compute_type()),
                      operands);
    });
}

void FsdpCommunication::copy_in(FsdpGroup& group) {
    ProgramBuilder& build = context_.build();
    const auto output = [&] {
        return build.transient("all-gather output", bytes_of(group.shard_count * ranks(), compute_type()),
                               compute_type(), Role::communication, copy_in_);
    };
    const bool casts = stored_type() != compute_type();
    if (!casts && !context_.plan().offload.parameters) {
        group.gather_output = output();
        foreach_copy(group, "all-gather copy-in", std::nullopt, group.gather_output);
        return;
    }
    const BufferId flat = casts ? cast_shards(group) : shards_to_gpu(group);
    group.gather_output = output();
    foreach_copy(group, "all-gather copy-in", flat, group.gather_output);
}

void FsdpCommunication::gather(FsdpGroup& group) {
    if (group.gathering || group.gathered) return;
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    build.at_layer(group.unit.layer);
    if (group.resharded) gather_streams_wait(*group.resharded);
    group.resharded.reset();
    context_.hook("FSDP gather", kPassesPerCollective);
    if (ranks() == 1) {  // a group of one GPU has nothing to gather
        group.gathering = true;
        return;
    }
    copy_in(group);
    build.join(gather_, copy_in_);
    in_communicator_order(gather_);
    build.collective(
        gather_, "all-gather parameters",
        {CollectiveKind::all_gather, Axis::shard, compute_type(), build.at(group.gather_output).bytes, false},
        {build.update(group.gather_output)});
    group.gather_done = build.record(gather_);
    group.gathering = true;
}

void FsdpCommunication::drop_last_gather_output() {
    if (!forward_output_) return;
    gather_streams_wait(forward_output_->event);
    context_.build().release(forward_output_->buffer);
    forward_output_.reset();
}

// In a group of one GPU: each weight is copied, and cast, from where it is stored.
void FsdpCommunication::copy_weights(FsdpGroup& group) {
    ProgramBuilder& build = context_.build();
    for (const ShardedWeight& weight : group.weights) {
        const Bytes bytes = bytes_of(weight.shard_count, compute_type());
        const BufferId copy =
            build.transient("gathered weight", bytes, compute_type(), Role::communication, context_.compute);
        build.compute(
            context_.compute, "copy weight",
            vector_kernel(1, weight.shard_count, bytes + build.at(weight.shard).bytes, compute_type()),
            {build.read(weight.shard), build.write(copy)});
        group.unsharded.push_back(copy);
    }
    group.gathering = false;
    group.gathered = true;
    gather_streams_wait(build.record(context_.compute));
}

void FsdpCommunication::finish_gather(FsdpGroup& group, bool forward) {
    if (!group.gathering) return;
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    build.at_layer(group.unit.layer);
    if (ranks() == 1) return copy_weights(group);
    if (forward) drop_last_gather_output();
    build.wait(context_.compute, group.gather_done);
    std::vector<Operand> operands{build.read(group.gather_output)};
    group.unsharded.clear();
    for (const ShardedWeight& weight : group.weights) {
        group.unsharded.push_back(build.transient("gathered weight",
                                                  bytes_of(weight.shard_count * ranks(), compute_type()),
                                                  compute_type(), Role::communication, context_.compute));
        operands.push_back(build.write(group.unsharded.back()));
    }
    const Bytes bytes = build.at(group.gather_output).bytes;
    build.compute(context_.compute, "all-gather copy-out",
                  vector_kernel(1, group.shard_count * ranks(), 2 * bytes, compute_type()), operands);
    const Held output{group.gather_output, build.record(context_.compute)};
    group.gathering = false;
    group.gathered = true;
    if (forward) {
        forward_output_ = output;
        return;
    }
    gather_streams_wait(output.event);
    build.release(output.buffer);
}

void FsdpCommunication::reshard(FsdpGroup& group) {
    if (!group.gathered) return;
    context_.tape.storages.settle();
    context_.build().release(group.unsharded);
    group.unsharded.clear();
    group.resharded = context_.build().record(context_.compute);
    group.gathered = false;
}

// chunk_cat: the gradients cut into ranks' chunks, one after another, in the reduce type.
BufferId FsdpCommunication::chunk_cat(const FsdpGroup& group, const std::vector<Tensor>& gradients) {
    ProgramBuilder& build = context_.build();
    const BufferId input =
        build.transient("reduce-scatter input", bytes_of(group.shard_count * ranks(), reduce_type()),
                        reduce_type(), Role::communication, context_.compute);
    std::vector<Operand> operands;
    Bytes traffic = build.at(input).bytes;
    for (const Tensor& gradient : gradients) {
        operands.push_back(build.read(context_.tape.storages.use(gradient, Access::read).buffer));
        traffic += gradient.bytes();
    }
    operands.push_back(build.write(input));
    build.compute(context_.compute, "chunk cat",
                  vector_kernel(1, group.shard_count * ranks(), traffic, reduce_type()), operands);
    for (const Tensor& gradient : gradients) context_.tape.storages.used_now(gradient);
    return input;
}

// The gradients go once they are copied, before the output is allocated.
void FsdpCommunication::reduce(FsdpGroup& group, std::vector<Tensor> gradients) {
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    build.at_layer(group.unit.layer);
    context_.hook("FSDP reduce", kPassesPerCollective);
    if (reduce_input_) {
        build.wait(context_.compute, reduce_input_->event);
        build.release(reduce_input_->buffer);
    }
    const BufferId input = chunk_cat(group, gradients);
    gradients.clear();
    context_.tape.storages.settle();
    build.join(reduce_, context_.compute);
    in_communicator_order(reduce_);
    const BufferId output = build.transient("sharded gradient", bytes_of(group.shard_count, reduce_type()),
                                            reduce_type(), Role::gradient, reduce_);
    if (ranks() == 1)
        build.compute(reduce_, "copy gradients",
                      vector_kernel(1, group.shard_count, build.at(input).bytes + build.at(output).bytes,
                                    reduce_type()),
                      {build.read(input), build.write(output)});
    else
        build.collective(
            reduce_, "reduce-scatter gradients",
            {CollectiveKind::reduce_scatter, Axis::shard, reduce_type(), build.at(input).bytes, true},
            {build.read(input), build.write(output)});
    reduce_input_ = Held{input, build.record(reduce_)};
    if (replicates())
        all_reduce(group, output);
    else
        keep_sharded_gradient(group, output, reduce_);
}

// HSDP: the shard is reduced across replicas on its own stream, beside the next reduce-scatter.
void FsdpCommunication::all_reduce(FsdpGroup& group, BufferId output) {
    ProgramBuilder& build = context_.build();
    build.join(all_reduce_, reduce_);
    build.collective(
        all_reduce_, "all-reduce gradients",
        {CollectiveKind::all_reduce, Axis::replicate, reduce_type(), build.at(output).bytes, true},
        {build.update(output)});
    keep_sharded_gradient(group, output, all_reduce_);
}

// Cast to the stored type, then kept as the gradient or added to the one there.
void FsdpCommunication::keep_sharded_gradient(FsdpGroup& group, BufferId output, StreamId stream) {
    ProgramBuilder& build = context_.build();
    const std::int64_t count = group.shard_count;
    if (reduce_type() != stored_type()) {
        const BufferId cast = build.transient("sharded gradient", bytes_of(count, stored_type()),
                                              stored_type(), Role::gradient, stream);
        build.compute(stream, "cast sharded gradient",
                      vector_kernel(1, count, build.at(output).bytes + build.at(cast).bytes, stored_type()),
                      {build.read(output), build.write(cast)});
        if (replicates()) group.all_reduce_input = output;
        output = cast;
    }
    if (context_.plan().offload.parameters) return gradient_to_host(group, output, stream);
    if (group.sharded_gradient) {
        build.compute(stream, "accumulate sharded gradient",
                      vector_kernel(1, count, 3 * build.at(output).bytes, stored_type()),
                      {build.read(output), build.update(*group.sharded_gradient)});
        if (replicates() && !group.all_reduce_input) group.all_reduce_input = output;
    } else {
        group.sharded_gradient = output;
    }
    group.reduced = build.record(stream);
}

// To the host as the gradient, or to be added there by the CPU.
void FsdpCommunication::gradient_to_host(FsdpGroup& group, BufferId output, StreamId stream) {
    ProgramBuilder& build = context_.build();
    const Bytes bytes = build.at(output).bytes;
    if (!host_) host_ = build.stream("host sums", StreamKind::host);
    const BufferId arrived = build.on_host(Lifetime::transient, "sharded gradient on the host", bytes,
                                           stored_type(), Role::gradient, *host_);
    build.copy(stream, "gradient to the host", {MemorySpace::device, MemorySpace::host, bytes},
               {build.read(output), build.write(arrived)});
    if (replicates() && !group.all_reduce_input) group.all_reduce_input = output;
    if (group.sharded_gradient) {
        build.join(*host_, stream);
        build.compute(*host_, "accumulate sharded gradient",
                      vector_kernel(1, group.shard_count, 3 * bytes, stored_type()),
                      {build.read(arrived), build.update(*group.sharded_gradient)});
        build.join(stream, *host_);
    } else {
        group.sharded_gradient = arrived;
    }
    group.reduced = build.record(stream);
}

void FsdpCommunication::finish_reduce(FsdpGroup& group) {
    if (!group.reduced) return;
    context_.build().wait(context_.compute, *group.reduced);
    group.reduced.reset();
    if (!group.all_reduce_input) return;
    context_.build().join(reduce_, context_.compute);
    context_.build().release(*group.all_reduce_input);
    group.all_reduce_input.reset();
}

void FsdpCommunication::end_step(std::vector<FsdpGroup>& groups) {
    ProgramBuilder& build = context_.build();
    build.join(reduce_, context_.compute);
    if (replicates()) build.join(all_reduce_, context_.compute);
    for (FsdpGroup& group : groups) {
        build.release(*group.sharded_gradient);
        group.sharded_gradient.reset();
    }
}

void FsdpCommunication::finish_backward() {
    if (!reduce_input_) return;
    context_.build().wait(context_.compute, reduce_input_->event);
    context_.build().release(reduce_input_->buffer);
    reduce_input_.reset();
}

}  // namespace wirewise
