// Stage 3: see ParameterFetch for the parameters and PartitionReduce for the gradients. The update goes
// sub-group by sub-group. Source: deepspeed/runtime/zero/stage3.py, read 2026-11.
#include <algorithm>
#include <utility>

#include "model/strategy/deepspeed/kernels.hpp"
#include "model/strategy/deepspeed/parameter_fetch.hpp"
#include "model/strategy/deepspeed/partition_reduce.hpp"
#include "model/strategy/deepspeed/policies.hpp"

namespace wirewise {

using namespace deepspeed;

namespace {

// Modules of a layer without weights of their own, whose hooks run all the same: the block, attention, mlp,
// activation.
constexpr int kBareModules = 4;

std::optional<StreamId> host_stream(PytorchContext& context) {
    if (!context.plan().offload.any()) return std::nullopt;
    return context.build().stream("host", StreamKind::host);
}

std::vector<std::int64_t> counts_of(std::span<const SubGroup> groups) {
    std::vector<std::int64_t> counts;
    for (const SubGroup& group : groups) counts.push_back(group.count);
    return counts;
}

class Zero3 final : public DeepSpeedPolicy {
  public:
    explicit Zero3(PytorchContext& context)
        : context_(context),
          layout_(context),
          host_(host_stream(context)),
          fetch_(std::make_unique<ParameterFetch>(context, layout_, host_)),
          adam_(context, host_, counts_of(layout_.sub_groups())),
          reduce_(context, layout_, host_, adam_) {}

    void load() override;
    void save() override;
    std::vector<BufferId> stored_parameters() const override { return {fetch_->own_parts()}; }
    void begin_step() override { fetch_->begin_step(); }
    void before_forward(Unit unit) override;
    void after_forward(Unit unit) override { bare_hooks(unit); }
    void before_backward(Unit unit) override { bare_hooks(unit); }
    void after_backward(Unit unit) override {
        bare_hooks(unit);
        if (!unit.root()) fetch_->done(unit);
    }
    void end_backward() override;
    void end_evaluation() override { fetch_->end_micro_batch(); }
    void update() override;
    BufferId readable(WeightId weight) const override { return fetch_->use(weight); }
    void take_gradient(WeightId weight, Tensor gradient) override {
        fetch_->use(weight);
        reduce_.add(weight, std::move(gradient));
    }

  private:
    DType type() const { return context_.plan().precision.parameter; }
    void bare_hooks(Unit unit) {
        if (!unit.root()) context_.hook("module hooks", kBareModules);
    }
    Operand parameters_of(const SubGroup& group, Access access) const {
        return part(fetch_->own_parts(), access, group.offset, group.count, type());
    }
    void norms();
    void update_on_gpu(std::size_t index);
    void update_on_host(std::size_t index);

    PytorchContext& context_;
    Zero3Layout layout_;
    std::optional<StreamId> host_;
    std::unique_ptr<ParameterFetch> fetch_;
    FlatAdam adam_;
    PartitionReduce reduce_;
};

// zero.Init partitions each parameter as it is made; every rank reads the whole checkpoint on its host. Then
// the parts are moved to the host and back to lie in one buffer.
void Zero3::load() {
    ProgramBuilder& build = context_.build();
    std::int64_t all = 0;
    for (const Zero3Weight& weight : layout_.all()) all += weight.count;
    const Bytes checkpoint_bytes = bytes_of(all, type());
    const BufferId checkpoint = build.on_host(Lifetime::transient, "checkpoint", checkpoint_bytes, type(),
                                              Role::parameter, context_.compute);
    build.allocate(checkpoint);
    build.allocate(fetch_->persistent());
    build.release(checkpoint);
    const BufferId moved =
        build.on_host(Lifetime::transient, "partitions on the host", bytes_of(layout_.own_count(), type()),
                      type(), Role::parameter, context_.compute);
    build.allocate(moved);
    build.release(moved);
    build.allocate(adam_.at_load());
    build.allocate(reduce_.from_the_start());
}

// Rank 0 gathers the 16-bit state dict on its host, weight by weight; every rank writes its own states.
void Zero3::save() {
    ProgramBuilder& build = context_.build();
    std::int64_t all = 0;
    for (const Zero3Weight& weight : layout_.all()) all += weight.count;
    const BufferId state_dict = build.on_host(Lifetime::transient, "state dict", bytes_of(all, type()),
                                              type(), Role::parameter, context_.compute);
    build.allocate(state_dict);
    fetch_->begin_step();
    fetch_->begin_micro_batch();
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < context_.weights.size(); ++i) {
        const auto weight = static_cast<WeightId>(i);
        const std::int64_t count = layout_.of(weight).count;
        Operand from = build.read(fetch_->use(weight));
        from.bytes = bytes_of(count, type());
        build.copy(context_.compute, "state dict", {MemorySpace::device, MemorySpace::host, from.bytes},
                   {from, part(state_dict, Access::write, offset, count, type())});
        offset += count;
    }
    fetch_->end_micro_batch();
    build.release(state_dict);
    for (std::size_t group = 0; group < adam_.size() && !adam_.offloaded(); ++group)
        for (const BufferId state : adam_.moments(group)) {
            const Operand read = build.read(state);
            const BufferId staged = build.on_host(Lifetime::transient, "optimizer state", read.bytes,
                                                  DType::fp32, Role::optimizer, context_.compute);
            build.copy(context_.compute, "save optimizer state",
                       {MemorySpace::device, MemorySpace::host, read.bytes}, {read, build.write(staged)});
            build.release(staged);
        }
}

void Zero3::before_forward(Unit unit) {
    if (unit.root()) fetch_->begin_micro_batch();
    bare_hooks(unit);
}

void Zero3::end_backward() {
    fetch_->end_micro_batch();
    reduce_.end_backward();
}

// Over this rank's part of each gradient; the largest stands for all.
void Zero3::norms() {
    const auto largest = std::ranges::max_element(layout_.all(), {}, &Zero3Weight::own_count);
    gradient_norm(context_,
                  part(reduce_.gradients(), Access::read, largest->offset, largest->own_count, type()),
                  largest->own_count);
}

void Zero3::update() {
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    build.host_work(context_.compute, "optimizer",
                    {HostWorkKind::optimizer_loop, static_cast<std::int32_t>(adam_.size())});
    if (adam_.offloaded()) {
        build.join(*host_, context_.compute);
    } else {
        norms();
    }
    for (std::size_t group = 0; group < adam_.size(); ++group)
        adam_.offloaded() ? update_on_host(group) : update_on_gpu(group);
    fetch_->refresh_persistent();
}

void Zero3::update_on_gpu(std::size_t index) {
    ProgramBuilder& build = context_.build();
    const SubGroup& group = layout_.sub_groups()[index];
    const DType master = context_.plan().precision.master;
    const Bytes bytes = bytes_of(group.count, type()), fp32 = bytes_of(group.count, master);
    const auto transient = [&](std::string_view name, Bytes size, DType dtype) {
        return build.transient(name, size, dtype, Role::gradient, context_.compute);
    };
    const BufferId flat = transient("flat gradients", bytes, type());
    flat_op(context_, context_.compute, "flatten gradients", group.count, bytes * 2,
            {part(reduce_.gradients(), Access::read, group.offset, group.count, type()), build.write(flat)});
    BufferId gradient = flat;
    if (master != type()) {  // otherwise the flat gradients are of the masters' type already
        gradient = transient("fp32 gradients", fp32, master);
        flat_op(context_, context_.compute, "cast gradients", group.count, bytes + fp32,
                {build.read(flat), build.write(gradient)});
    }
    flat_op(context_, context_.compute, "unscale and clip", group.count, fp32 * 2, {build.update(gradient)});
    adam_.update(index, gradient);
    build.release(gradient);
    const Operand to = parameters_of(group, Access::write);
    if (!context_.plan().offload.parameters) {
        flat_op(context_, context_.compute, "copy to 16-bit partition", group.count, bytes + fp32,
                {build.read(adam_.master(index)), to});
        return;
    }
    const BufferId cast = transient("updated 16-bit parameters", bytes, type());
    flat_op(context_, context_.compute, "cast to 16 bits", group.count, bytes + fp32,
            {build.read(adam_.master(index)), build.write(cast)});
    build.copy(context_.compute, "updated parameters to the host",
               {MemorySpace::device, MemorySpace::host, bytes}, {build.read(cast), to});
}

// DeepSpeedCPUAdam, then the cast on the host; where the parameters stay on the GPU, the copy there.
void Zero3::update_on_host(std::size_t index) {
    ProgramBuilder& build = context_.build();
    const SubGroup& group = layout_.sub_groups()[index];
    const Bytes bytes = bytes_of(group.count, type()), fp32 = bytes_of(group.count, DType::fp32);
    adam_.update(index, adam_.host_gradient(index));
    const Operand to = parameters_of(group, Access::write), master = build.read(adam_.master(index));
    if (context_.plan().offload.parameters) {
        flat_op(context_, *host_, "updated parameters to 16 bits", group.count, bytes + fp32, {master, to});
    } else {
        const BufferId cast = build.on_host(Lifetime::transient, "updated 16-bit parameters", bytes, type(),
                                            Role::communication, *host_);
        flat_op(context_, *host_, "updated parameters to 16 bits", group.count, bytes + fp32,
                {master, build.write(cast)});
        build.join(context_.compute, *host_);
        build.copy(context_.compute, "updated parameters to the GPU",
                   {MemorySpace::host, MemorySpace::device, bytes}, {build.read(cast), to});
        build.join(*host_, context_.compute);
        build.release(cast);
    }
    build.host_work(*host_, "CPU optimizer", {HostWorkKind::synchronize, 1});
    if (context_.plan().offload.parameters) build.join(context_.compute, *host_);
}

}  // namespace

std::unique_ptr<DeepSpeedPolicy> make_zero3(PytorchContext& context) {
    return std::make_unique<Zero3>(context);
}

}  // namespace wirewise
