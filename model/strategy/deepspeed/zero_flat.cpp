// Stages 0, 1 and 2: one flat 16-bit buffer that all weights are views of.
// Stage 0 is FP16_Optimizer: gradients are all-reduced after backward, every rank updates all. (With bf16
// DeepSpeed keeps fp32 gradients and shards the states even at stage 0; not modelled.) Stage 1 leaves all
// gradients until the accumulation boundary and reduces them then, without overlap. Stage 2 reduces during
// every backward: see GradientBucket. Source: deepspeed/runtime/zero/stage_1_and_2.py,
// fp16/fused_optimizer.py, engine.py, read 2026-11.
#include <utility>

#include "model/strategy/deepspeed/flat_adam.hpp"
#include "model/strategy/deepspeed/flat_layout.hpp"
#include "model/strategy/deepspeed/gradient_bucket.hpp"
#include "model/strategy/deepspeed/host_transfer.hpp"
#include "model/strategy/deepspeed/kernels.hpp"
#include "model/strategy/deepspeed/policies.hpp"

namespace wirewise {

using namespace deepspeed;

namespace {

class ZeroFlat final : public DeepSpeedPolicy {
  public:
    explicit ZeroFlat(PytorchContext& context);

    void load() override;
    void save() override;
    std::vector<BufferId> stored_parameters() const override { return {flat_}; }
    void begin_step() override {}
    void before_forward(Unit) override {}
    void after_forward(Unit) override {}
    void before_backward(Unit) override {}
    void after_backward(Unit) override {}
    void end_backward() override;
    void update() override;
    BufferId readable(WeightId) const override { return flat_; }
    void take_gradient(WeightId weight, Tensor gradient) override;

  private:
    int stage() const { return sharding_.gradients ? 2 : sharding_.optimizer ? 1 : 0; }
    int ranks() const { return context_.plan().mesh.world(); }
    bool boundary() const { return context_.emission.last_micro_batch(); }
    DType type() const { return context_.plan().precision.parameter; }
    Bytes flat_bytes() const { return bytes_of(layout_.padded(), type()); }
    std::int64_t own_count() const { return layout_.padded() / (sharding_.optimizer ? ranks() : 1); }
    Operand own_flat(Access access) const;

    void keep(WeightId weight, const Operand& gradient, StreamId stream);
    void add_to_earlier_micro_batches();
    void reduce_all();
    void reduce_together(const std::vector<WeightId>& weights, std::int64_t count);
    void drop_what_others_own();
    std::vector<Operand> own_gradients() const;
    BufferId gradients_in_fp32();
    void update_on_gpu();
    void update_on_host();
    void gather_parameters();

    PytorchContext& context_;
    Sharding sharding_;
    StreamId reduce_;
    std::optional<StreamId> host_;
    FlatLayout layout_;
    BufferId flat_;
    FlatAdam adam_;
    std::optional<HostTransfer> transfer_;
    GradientBucket bucket_;
    std::vector<Tensor> gradients_;        // stages 0 and 1
    std::optional<BufferId> partition_;    // stage 2: this micro-batch's gradients of the own partition
    std::optional<BufferId> accumulated_;  // ... and of all micro-batches so far
    std::int64_t partition_filled_ = 0;
};

std::optional<StreamId> host_stream(PytorchContext& context) {
    if (!context.plan().offload.any()) return std::nullopt;
    return context.build().stream("host", StreamKind::host);
}

ZeroFlat::ZeroFlat(PytorchContext& context)
    : context_(context),
      sharding_(sharding_of(context.plan().strategy)),
      reduce_(context.build().stream("reduction", StreamKind::communication)),
      host_(host_stream(context)),
      layout_(context.weights, sharding_.optimizer ? context.plan().mesh.shard : 1),
      flat_(context.build().persistent("flat parameters", flat_bytes(), type(), Role::parameter,
                                       context.compute)),
      adam_(context, host_, {own_count()}),
      bucket_(context, reduce_, layout_,
              [this](WeightId weight, const Operand& gradient, StreamId stream) {
                  keep(weight, gradient, stream);
              }),
      gradients_(context.weights.size()) {
    if (adam_.offloaded()) transfer_.emplace(context, *host_, layout_);
}

Operand ZeroFlat::own_flat(Access access) const {
    return {flat_, access, sharding_.optimizer && ranks() > 1, Bytes(0), flat_bytes()};
}

// from_pretrained on the host, the model moved to the GPU, back to the host to be flattened there, and the
// flat buffer moved to the GPU; then the fp32 partition from a clone of the own 16-bit partition.
void ZeroFlat::load() {
    ProgramBuilder& build = context_.build();
    const StreamId compute = context_.compute;
    const auto on_host = [&](std::string_view name) {
        return build.on_host(Lifetime::transient, name, flat_bytes(), type(), Role::parameter, compute);
    };
    using enum MemorySpace;
    const BufferId checkpoint = on_host("checkpoint"), moved_out = on_host("parameters on the host"),
                   flattened = on_host("flattened parameters");
    const BufferId model = build.transient("model", flat_bytes(), type(), Role::parameter, compute);
    build.allocate(checkpoint);
    build.copy(compute, "load checkpoint", {host, device, flat_bytes()}, {build.write(model)});
    build.release(checkpoint);
    build.copy(compute, "move parameters to the host", {device, host, flat_bytes()},
               {build.read(model), build.write(moved_out)});
    build.release(model);
    build.copy(compute, "flatten", {host, host, flat_bytes()},
               {build.read(moved_out), build.write(flattened)});
    build.copy(compute, "move flat parameters to the GPU", {host, device, flat_bytes()},
               {build.read(flattened), build.write(flat_)});
    build.release(flattened);
    const BufferId master = adam_.master(0);
    if (adam_.offloaded()) {
        build.allocate(adam_.at_load());
        transfer_->load();
        return;
    }
    const BufferId clone = build.transient("clone of own partition", bytes_of(own_count(), type()), type(),
                                           Role::workspace, compute);
    flat_op(context_, compute, "clone own partition", own_count(), bytes_of(2 * own_count(), type()),
            {own_flat(Access::read), build.write(clone)});
    flat_op(context_, compute, "own partition in fp32", own_count(),
            bytes_of(own_count(), type()) + build.at(master).bytes, {build.read(clone), build.write(master)});
}

// Rank 0 assembles the 16-bit state dict; every rank writes its own states, one buffer at a time.
void ZeroFlat::save() {
    ProgramBuilder& build = context_.build();
    const BufferId state_dict = build.on_host(Lifetime::transient, "state dict", flat_bytes(), type(),
                                              Role::parameter, context_.compute);
    build.copy(context_.compute, "state dict", {MemorySpace::device, MemorySpace::host, flat_bytes()},
               {build.read(flat_), build.write(state_dict)});
    build.release(state_dict);
    if (adam_.offloaded()) return;
    for (const BufferId state : adam_.moments(0)) {
        const Operand read = build.read(state);
        const BufferId staged = build.on_host(Lifetime::transient, "optimizer state", read.bytes, DType::fp32,
                                              Role::optimizer, context_.compute);
        build.copy(context_.compute, "save optimizer state",
                   {MemorySpace::device, MemorySpace::host, read.bytes}, {read, build.write(staged)});
        build.release(staged);
    }
}

void ZeroFlat::take_gradient(WeightId weight, Tensor gradient) {
    if (stage() == 2) return bucket_.add(weight, std::move(gradient));
    Tensor& kept = gradients_[index_of(weight)];
    if (!kept.defined()) {
        kept = std::move(gradient);
        return;
    }
    const Weight& w = context_.weights.at(weight);
    context_.tape.compute("accumulate weight gradient",
                          vector_kernel(w.rows, w.columns, 3 * gradient.bytes(), gradient.type),
                          {{gradient, Access::read}, {kept, Access::update}});
}

// The bucket will be written over: an own gradient moves to the partition, or to the host.
void ZeroFlat::keep(WeightId weight, const Operand& gradient, StreamId stream) {
    if (transfer_) return transfer_->take(weight, gradient, stream, adam_.host_gradient(0));
    if (!partition_) {
        partition_ =
            context_.build().transient("gradient partition", bytes_of(layout_.own_weights_count(), type()),
                                       type(), Role::gradient, context_.compute);
        partition_filled_ = 0;
    }
    const std::int64_t count = context_.weights.at(weight).count();
    flat_op(context_, stream, "copy into gradient partition", count, gradient.bytes * 2,
            {gradient, part(*partition_, Access::write, partition_filled_, count, type())});
    partition_filled_ += count;
}

void ZeroFlat::end_backward() {
    if (stage() == 2) {
        bucket_.finish();
        add_to_earlier_micro_batches();
    } else if (boundary()) {
        reduce_all();
        if (stage() == 1) drop_what_others_own();
    }
}

void ZeroFlat::add_to_earlier_micro_batches() {
    if (!partition_) return;
    ProgramBuilder& build = context_.build();
    const BufferId now = *std::exchange(partition_, std::nullopt);
    if (!accumulated_) {
        accumulated_ = now;
        return;
    }
    flat_op(context_, context_.compute, "accumulate gradient partition", layout_.own_weights_count(),
            build.at(now).bytes * 3, {build.read(now), build.update(*accumulated_)});
    build.release(now);
}

// In the order of parameters(), a bucket at a time.
void ZeroFlat::reduce_all() {
    context_.tape.storages.settle();
    std::vector<WeightId> bucket;
    std::int64_t filled = 0;
    const auto flush = [&] {
        if (!bucket.empty()) reduce_together(bucket, filled);
        bucket.clear();
        filled = 0;
    };
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
        const auto weight = static_cast<WeightId>(i);
        const std::int64_t count = context_.weights.at(weight).count();
        if (filled + count > context_.plan().deepspeed.reduce_bucket_size) flush();
        bucket.push_back(weight);
        filled += count;
    }
    flush();
}

void ZeroFlat::reduce_together(const std::vector<WeightId>& weights, std::int64_t count) {
    ProgramBuilder& build = context_.build();
    if (ranks() > 1) {
        const BufferId flat = build.transient("flattened bucket", bytes_of(count, type()), type(),
                                              Role::communication, context_.compute);
        std::vector<Operand> gather, spread{build.read(flat)};
        for (const WeightId weight : weights) {
            gather.push_back(whole(context_, gradients_[index_of(weight)], Access::read));
            spread.push_back(whole(context_, gradients_[index_of(weight)], Access::write));
        }
        gather.push_back(build.write(flat));
        const Bytes bytes = build.at(flat).bytes;
        flat_op(context_, context_.compute, "flatten bucket", count, bytes * 2, gather);
        flat_op(context_, context_.compute, "divide bucket", count, bytes * 2, {build.update(flat)});
        build.join(reduce_, context_.compute);
        build.collective(reduce_, "all-reduce gradients",
                         {CollectiveKind::all_reduce, Axis::world, type(), bytes, false},
                         {build.update(flat)});
        build.join(context_.compute, reduce_);
        flat_op(context_, context_.compute, "copy out of bucket", count, bytes * 2, spread);
        build.release(flat);
        for (const WeightId weight : weights) context_.tape.storages.used_now(gradients_[index_of(weight)]);
    }
    if (!transfer_) return;
    for (const WeightId weight : weights)
        if (layout_.is_own(weight))
            transfer_->take(weight, whole(context_, gradients_[index_of(weight)], Access::read),
                            context_.compute, adam_.host_gradient(0));
}

void ZeroFlat::drop_what_others_own() {
    for (std::size_t i = 0; i < gradients_.size(); ++i)
        if (transfer_ || !layout_.is_own(static_cast<WeightId>(i))) gradients_[i] = {};
    context_.tape.storages.settle();
}

std::vector<Operand> ZeroFlat::own_gradients() const {
    if (accumulated_) return {context_.build().read(*accumulated_)};
    std::vector<Operand> operands;
    for (const Tensor& gradient : gradients_)
        if (gradient.defined()) operands.push_back(whole(context_, gradient, Access::read));
    return operands;
}

// Stages 1 and 2 flatten the own 16-bit gradients, then cast; stage 0 casts each, then flattens.
BufferId ZeroFlat::gradients_in_fp32() {
    ProgramBuilder& build = context_.build();
    const std::int64_t count = own_count();
    const DType first = stage() == 0 ? context_.plan().precision.master : type();
    const BufferId between = build.transient(stage() == 0 ? "gradients in fp32" : "flat gradients",
                                             bytes_of(count, first), first, Role::gradient, context_.compute);
    std::vector<Operand> operands = own_gradients();
    operands.push_back(build.write(between));
    flat_op(context_, context_.compute, stage() == 0 ? "cast gradients" : "flatten gradients", count,
            bytes_of(count, type()) + bytes_of(count, first), operands);
    const DType master = context_.plan().precision.master;
    BufferId fp32 = between;
    if (stage() == 0 || first != master) {  // otherwise they are of the masters' type already
        fp32 = build.transient("fp32 gradient partition", bytes_of(count, master), master, Role::gradient,
                               context_.compute);
        flat_op(context_, context_.compute, stage() == 0 ? "flatten gradients" : "cast gradients", count,
                bytes_of(count, first) + bytes_of(count, master), {build.read(between), build.write(fp32)});
        build.release(between);
    }
    for (Tensor& gradient : gradients_) gradient = {};
    if (accumulated_) build.release(*std::exchange(accumulated_, std::nullopt));
    context_.tape.storages.settle();
    return fp32;
}

void ZeroFlat::update() {
    context_.tape.storages.settle();
    context_.build().host_work(context_.compute, "optimizer", {HostWorkKind::optimizer_loop, 1});
    if (transfer_)
        update_on_host();
    else
        update_on_gpu();
    if (sharding_.optimizer && ranks() > 1) gather_parameters();
}

void ZeroFlat::update_on_gpu() {
    ProgramBuilder& build = context_.build();
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < context_.weights.size(); ++i)
        largest = std::max(largest, layout_.own_part(static_cast<WeightId>(i)).count());
    const Operand sample = own_gradients().front();
    gradient_norm(context_, sample, std::min(largest, sample.bytes.count() / size_of(type())));
    const BufferId gradient = gradients_in_fp32();
    flat_op(context_, context_.compute, "unscale and clip", own_count(), build.at(gradient).bytes * 2,
            {build.update(gradient)});
    adam_.update(0, gradient);
    build.release(gradient);
    flat_op(context_, context_.compute, "copy to 16-bit partition", own_count(),
            bytes_of(own_count(), type()) + build.at(adam_.master(0)).bytes,
            {build.read(adam_.master(0)), own_flat(Access::write)});
}

void ZeroFlat::update_on_host() {
    transfer_->wait();
    adam_.update(0, adam_.host_gradient(0));
    transfer_->give_back(adam_.master(0), own_count(), own_flat(Access::write));
}

// Exposed: nothing else is left to do. allgather_bucket_size cuts it into pieces.
void ZeroFlat::gather_parameters() {
    ProgramBuilder& build = context_.build();
    const std::int64_t pieces = std::max<std::int64_t>(
        1, layout_.padded() / std::max<std::int64_t>(1, context_.plan().deepspeed.allgather_bucket_size));
    build.join(reduce_, context_.compute);
    for (std::int64_t i = 0; i < pieces; ++i)
        build.collective(reduce_, "all-gather parameters",
                         {CollectiveKind::all_gather, Axis::shard, type(), flat_bytes() / pieces, false},
                         {build.update(flat_)});
    build.join(context_.compute, reduce_);
}

}  // namespace

std::unique_ptr<DeepSpeedPolicy> make_zero_flat(PytorchContext& context) {
    return std::make_unique<ZeroFlat>(context);
}

}  // namespace wirewise
