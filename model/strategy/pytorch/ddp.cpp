#include <utility>

#include "model/strategy/pytorch/ddp_buckets.hpp"
#include "model/strategy/pytorch/ddp_load.hpp"
#include "model/strategy/pytorch/optimizer.hpp"
#include "model/strategy/pytorch/policy.hpp"
#include "model/strategy/pytorch/traffic.hpp"
#include "model/strategy/pytorch/whole_weights.hpp"
#include "model/strategy/pytorch/zero1.hpp"

namespace wirewise {

namespace {

class Ddp final : public PytorchPolicy {
  public:
    explicit Ddp(PytorchContext& context)
        : context_(context),
          communication_(context.build().stream("NCCL", StreamKind::communication)),
          weights_(context),
          shares_(shares_of(context)),
          own_(fullest_share(context.weights, shares_)),
          buckets_(context),
          optimizer_(context, own_items()),
          gradients_(context.weights.size()),
          missing_(0) {
        const bool every_micro_batch = !context.plan().no_sync && context.plan().gradient_accumulation > 1;
        reduced_before_ = context.phase() == Phase::second_step && !every_micro_batch;
        if (context.phase() != Phase::first_step && !reduced_before_) buckets_.use_rebuilt();
    }

    void load() override {
        build_model(context_, weights_.buffers());
        broadcast_weights(context_, weights_, communication_);
        context_.build().allocate(std::span(&first_bucket_, 1));
    }
    std::vector<BufferId> stored_parameters() const override {
        return {weights_.buffers().begin(), weights_.buffers().end()};
    }
    void begin_step() override {}
    void before_forward(Unit unit) override;
    void after_forward(Unit) override {}
    void before_backward(Unit unit) override;
    void after_backward(Unit) override {}
    void end_backward() override;
    void update() override;

    BufferId readable(WeightId weight) const override { return weights_.buffer(weight); }
    void take_gradient(WeightId weight, Tensor gradient) override;

  private:
    static std::vector<std::vector<WeightId>> shares_of(const PytorchContext& context) {
        const int ranks = context.plan().strategy == Strategy::zero1 ? context.plan().mesh.world() : 1;
        return zero1_shares(context.weights, ranks);
    }
    bool shards_states() const { return context_.plan().strategy == Strategy::zero1; }
    bool views() const { return context_.plan().gradient_as_bucket_view; }

    std::vector<WeightId> own_weights() const;
    std::vector<PytorchOptimizer::Item> own_items() const;
    void rebuild();
    void broadcast_module_buffers();
    void release_first_bucket();
    void into_bucket(WeightId weight, const Tensor& gradient);
    void ready(std::size_t bucket);
    void copy_back();
    void broadcast_parameters();
    Operand gradient_of(WeightId weight) const;

    PytorchContext& context_;
    StreamId communication_;
    WholeWeights weights_;
    std::vector<std::vector<WeightId>> shares_;
    std::size_t own_;
    Buckets buckets_;
    BufferId first_bucket_ = buckets_.first_buffer();
    PytorchOptimizer optimizer_;
    std::vector<Tensor> gradients_;     // that are not views of buckets
    std::vector<std::size_t> missing_;  // bucket -> gradients still to come
    bool reduced_before_ = false;       // a reduction happened and the buckets are still the first ones
    bool first_bucket_lingers_ = false;
    bool in_bucket_ = false;  // gradients are views of buckets from an earlier micro-batch
};

// Without shards every rank updates all; the order is then parameters().
std::vector<WeightId> Ddp::own_weights() const {
    if (shards_states()) return shares_[own_];
    std::vector<WeightId> all(context_.weights.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<WeightId>(i);
    return all;
}

std::vector<PytorchOptimizer::Item> Ddp::own_items() const {
    std::vector<PytorchOptimizer::Item> items;
    for (const WeightId id : own_weights())
        items.push_back({weights_.buffer(id), context_.weights.at(id).count()});
    return items;
}

void Ddp::before_forward(Unit unit) {
    if (!unit.root()) return;
    context_.hook("DDP forward");
    if (reduced_before_ && !buckets_.rebuilt_in_use()) rebuild();
    broadcast_module_buffers();
}

// The old bucket's memory goes back when NCCL's process group lets go of its last all-reduce: see
// StaleBucket.
void Ddp::rebuild() {
    ProgramBuilder& build = context_.build();
    const StaleBucket stale = context_.plan().stale_bucket;
    if (stale == StaleBucket::freed_at_rebuild) release_first_bucket();
    buckets_.use_rebuilt();
    const std::vector<BufferId> buffers = buckets_.rebuilt_buffers();
    build.allocate(buffers);
    if (stale == StaleBucket::freed_at_buffer_broadcast) release_first_bucket();
    first_bucket_lingers_ = stale == StaleBucket::freed_in_backward || stale == StaleBucket::freed_after_step;
}

void Ddp::release_first_bucket() {
    first_bucket_lingers_ = false;
    context_.build().release(first_bucket_);
}

// Rotary frequencies: a few hundred bytes, flattened.
void Ddp::broadcast_module_buffers() {
    if (context_.model().position != PositionKind::rotary) return;
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    const Bytes bytes = bytes_of(context_.model().layer(0).attention.rotary_dim, DType::fp32);
    const BufferId flat =
        build.transient("module buffers", bytes, DType::fp32, Role::communication, context_.compute);
    build.compute(context_.compute, "flatten module buffers", vector_kernel(1, 1, 2 * bytes, DType::fp32),
                  {build.write(flat)});
    build.join(communication_, context_.compute);
    build.collective(communication_, "broadcast module buffers",
                     {CollectiveKind::broadcast, Axis::world, DType::fp32, bytes, false},
                     {build.update(flat)});
    build.join(context_.compute, communication_);
    build.compute(context_.compute, "copy out module buffers", vector_kernel(1, 1, 2 * bytes, DType::fp32),
                  {build.read(flat)});
}

void Ddp::before_backward(Unit unit) {
    if (!unit.root()) return;
    missing_.clear();
    for (const Bucket& bucket : buckets_.current()) missing_.push_back(bucket.weights.size());
}

void Ddp::take_gradient(WeightId weight, Tensor gradient) {
    Tensor& kept = gradients_[index_of(weight)];
    if (in_bucket_) {
        weights_.accumulate(weight, gradient, buckets_.current()[buckets_.place(weight).bucket].buffer);
        return ready(buckets_.place(weight).bucket);
    }
    if (kept.defined())
        weights_.accumulate(weight, gradient, context_.tape.storages.use(kept, Access::update).buffer);
    else
        kept = std::move(gradient);
    gradient = {};
    if (!context_.synchronises()) return;
    into_bucket(weight, kept);
    if (views()) kept = {};
    ready(buckets_.place(weight).bucket);
}

// The hook scales the gradient by 1 / world size while copying it.
void Ddp::into_bucket(WeightId weight, const Tensor& gradient) {
    ProgramBuilder& build = context_.build();
    const Buckets::Place& place = buckets_.place(weight);
    context_.tape.storages.settle();
    build.compute(
        context_.compute, "copy into bucket",
        vector_kernel(gradient.rows, gradient.columns, gradient.bytes() + place.bytes, gradient.type),
        {build.read(context_.tape.storages.use(gradient, Access::read).buffer),
         {buckets_.current()[place.bucket].buffer, Access::write, false, place.offset, place.bytes}});
    context_.tape.storages.used_now(gradient);
}

void Ddp::ready(std::size_t bucket) {
    if (--missing_[bucket] != 0) return;
    ProgramBuilder& build = context_.build();
    const BufferId buffer = buckets_.current()[bucket].buffer;
    context_.tape.storages.settle();
    if (first_bucket_lingers_ && context_.plan().stale_bucket == StaleBucket::freed_in_backward)
        release_first_bucket();
    build.join(communication_, context_.compute);
    build.collective(communication_, "all-reduce gradients",
                     {CollectiveKind::all_reduce, Axis::world, context_.plan().precision.parameter,
                      build.at(buffer).bytes, false},
                     {build.update(buffer)});
}

void Ddp::end_backward() {
    if (!context_.synchronises()) return;
    context_.tape.storages.settle();
    context_.build().join(context_.compute, communication_);
    reduced_before_ = true;
    in_bucket_ = views();
    if (!views()) copy_back();
}

void Ddp::copy_back() {
    ProgramBuilder& build = context_.build();
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
        const Tensor& gradient = gradients_[i];
        const Buckets::Place& place = buckets_.place(static_cast<WeightId>(i));
        build.compute(
            context_.compute, "copy out of bucket",
            vector_kernel(gradient.rows, gradient.columns, gradient.bytes() + place.bytes, gradient.type),
            {{buckets_.current()[place.bucket].buffer, Access::read, false, place.offset, place.bytes},
             build.write(context_.tape.storages.use(gradient, Access::write).buffer)});
    }
}

Operand Ddp::gradient_of(WeightId weight) const {
    const Buckets::Place& place = buckets_.place(weight);
    if (views())
        return {buckets_.current()[place.bucket].buffer, Access::read, false, place.offset, place.bytes};
    return context_.build().read(
        context_.tape.storages.use(gradients_[index_of(weight)], Access::read).buffer);
}

void Ddp::update() {
    std::vector<Operand> operands;
    for (const WeightId weight : own_weights()) operands.push_back(gradient_of(weight));
    optimizer_.step(operands);
    if (shards_states()) broadcast_parameters();
    for (Tensor& gradient : gradients_) gradient = {};
    context_.tape.storages.settle();
    if (first_bucket_lingers_) release_first_bucket();
}

// One broadcast per parameter from the rank that updated it; all are waited for.
void Ddp::broadcast_parameters() {
    ProgramBuilder& build = context_.build();
    build.join(communication_, context_.compute);
    for (const auto& share : shares_) {
        const bool own = &share == &shares_[own_];
        for (const WeightId weight : share) {
            const BufferId buffer = weights_.buffer(weight);
            build.collective(communication_, "broadcast parameter",
                             {CollectiveKind::broadcast, Axis::world, context_.plan().precision.parameter,
                              build.at(buffer).bytes, false},
                             {own ? build.read(buffer) : build.write(buffer)});
        }
    }
    build.join(context_.compute, communication_);
}

}  // namespace

std::unique_ptr<PytorchPolicy> make_ddp(PytorchContext& context) { return std::make_unique<Ddp>(context); }

}  // namespace wirewise
