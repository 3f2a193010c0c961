#include <utility>

#include "model/strategy/pytorch/fsdp_communication.hpp"
#include "model/strategy/pytorch/optimizer.hpp"
#include "model/strategy/pytorch/policy.hpp"
#include "model/strategy/pytorch/traffic.hpp"
#include "model/strategy/pytorch/whole_weights.hpp"

namespace wirewise {

namespace {

std::vector<FsdpGroup> make_groups(PytorchContext& context) {
    std::vector<FsdpGroup> groups;
    for (std::int32_t layer = 0; layer < context.model().layer_count(); ++layer)
        groups.emplace_back(context, Unit{layer});
    groups.emplace_back(context, Unit{});  // last: its post-forward is
    return groups;
}

class Fsdp final : public PytorchPolicy {
  public:
    explicit Fsdp(PytorchContext& context)
        : context_(context),
          communication_(context),
          groups_(make_groups(context)),
          optimizer_(context, items()),
          place_(context.weights.size()),
          reshards_(sharding_of(context.plan().strategy).reshard_after_forward) {
        for (std::size_t g = 0; g < groups_.size(); ++g)
            for (std::size_t w = 0; w < groups_[g].weights.size(); ++w)
                place_[index_of(groups_[g].weights[w].id)] = {g, w};
    }

    void load() override;
    std::vector<BufferId> stored_parameters() const override {
        std::vector<BufferId> shards;
        for (const FsdpGroup& group : groups_)
            for (const ShardedWeight& weight : group.weights) shards.push_back(weight.shard);
        return shards;
    }
    void end_evaluation() override {
        if (!context_.plan().loss.outside) after_forward({});
    }
    void begin_step() override {
        context_.build().allocate(stored_parameters());  // the shards have been there since then: no memory
                                                         // of this step's becomes theirs
        communication_.begin_step();
    }
    void before_forward(Unit unit) override;
    void after_forward(Unit unit) override;
    void before_backward(Unit unit) override;
    void after_backward(Unit unit) override;
    void end_backward() override;
    void update() override;

    BufferId readable(WeightId weight) const override {
        const auto [group, index] = place_[index_of(weight)];
        ensure(groups_[group].gathered, "a weight is gathered before it is used");
        return groups_[group].unsharded[index];
    }
    void take_gradient(WeightId weight, Tensor gradient) override;

  private:
    struct Place {
        std::size_t group = 0, index = 0;
    };
    std::vector<PytorchOptimizer::Item> items() const;
    FsdpGroup& group(Unit unit) {
        return unit.root() ? groups_.back() : groups_[static_cast<std::size_t>(unit.layer)];
    }
    void hook() { context_.hook("FSDP hook"); }
    void post_backward(FsdpGroup& group);
    void keep_for_later(FsdpGroup& group);

    PytorchContext& context_;
    FsdpCommunication communication_;
    std::vector<FsdpGroup> groups_;  // in post-forward order
    PytorchOptimizer optimizer_;
    std::vector<Place> place_;
    bool reshards_;
};

// fully_shard takes group by group and swaps the weights for copies of their shards; of a model on the meta
// device only the shards ever reach the GPU.
void Fsdp::load() {
    ProgramBuilder& build = context_.build();
    if (!built_whole(context_.plan())) return build.allocate(stored_parameters());
    const std::vector<BufferId> whole = weights_to_cut(context_);
    build_model(context_, whole);
    for (const FsdpGroup& group : groups_) {
        std::vector<BufferId> shards, weights;
        for (const ShardedWeight& weight : group.weights) {
            shards.push_back(weight.shard);
            weights.push_back(whole[index_of(weight.id)]);
        }
        build.allocate(shards);
        build.release(weights);
    }
}

// The optimizer sees parameters() order: the root's weights lie around the layers'.
std::vector<PytorchOptimizer::Item> Fsdp::items() const {
    std::vector<PytorchOptimizer::Item> items(context_.weights.size());
    for (const FsdpGroup& group : groups_)
        for (const ShardedWeight& weight : group.weights)
            items[index_of(weight.id)] = {weight.shard, weight.shard_count};
    return items;
}

void Fsdp::before_forward(Unit unit) {
    hook();
    communication_.gather(group(unit));
    communication_.finish_gather(group(unit), true);
}

void Fsdp::after_forward(Unit unit) {
    hook();
    if (reshards_) communication_.reshard(group(unit));
    if (unit.root()) communication_.drop_last_gather_output();
}

// The root's comes with the gradient of the model's output: of the loss, just after its post-forward, or of
// the logits.
void Fsdp::before_backward(Unit unit) {
    if (unit.root() && !context_.plan().loss.outside) after_forward({});
    hook();
    FsdpGroup& own = group(unit);
    communication_.gather(own);
    communication_.finish_gather(own, false);
    const auto index = static_cast<std::size_t>(&own - groups_.data());
    if (index > 0) communication_.gather(groups_[index - 1]);
    context_.build().at_layer(unit.layer);
}

void Fsdp::take_gradient(WeightId weight, Tensor gradient) {
    const auto [g, index] = place_[index_of(weight)];
    Tensor& kept = groups_[g].gradients[index];
    if (!kept.defined()) {
        kept = std::move(gradient);
        return;
    }
    const Weight& w = context_.weights.at(weight);
    context_.tape.compute("accumulate weight gradient",
                          vector_kernel(w.rows, w.columns, 3 * gradient.bytes(), gradient.type),
                          {{gradient, Access::read}, {kept, Access::update}});
}

void Fsdp::after_backward(Unit unit) {
    hook();
    if (!unit.root()) post_backward(group(unit));
}

// Unreduced gradients wait for the next micro-batch, in the reduce type.
void Fsdp::keep_for_later(FsdpGroup& group) {
    const DType type = context_.plan().precision.reduce;
    if (type == context_.plan().precision.compute) return;
    for (std::size_t i = 0; i < group.gradients.size(); ++i) {
        Tensor gradient = std::exchange(group.gradients[i], {});
        Tensor& sum = group.reduce_type_gradients[i];
        if (sum.defined()) {
            context_.tape.compute(
                "accumulate unsharded gradient",
                vector_kernel(sum.rows, sum.columns, 2 * sum.bytes() + gradient.bytes(), type),
                {{gradient, Access::read}, {sum, Access::update}});
            continue;
        }
        sum = context_.tape.storages.empty("unsharded gradient", gradient.rows, gradient.columns, type,
                                           Role::gradient);
        context_.tape.compute("cast unsharded gradient",
                              broadcast_kernel(sum.rows, sum.columns, sum.bytes() + gradient.bytes(), type),
                              {{gradient, Access::read}, {sum, Access::write}});
    }
}

void Fsdp::post_backward(FsdpGroup& group) {
    context_.build().at_layer(group.unit.layer);
    const bool earlier = group.reduce_type_gradients.front().defined();
    if (earlier || !context_.synchronises()) keep_for_later(group);
    if (!context_.synchronises()) return communication_.reshard(group);
    std::vector<Tensor> gradients = std::move(earlier ? group.reduce_type_gradients : group.gradients);
    group.gradients.assign(group.weights.size(), {});
    group.reduce_type_gradients.assign(group.weights.size(), {});
    communication_.reshard(group);
    communication_.reduce(group, std::move(gradients));
}

// The root's post-backward runs in the engine's final callback: its inputs have no gradient to hang a hook
// on.
void Fsdp::end_backward() {
    post_backward(groups_.back());
    context_.tape.storages.settle();
    for (FsdpGroup& group : groups_) communication_.finish_reduce(group);
    communication_.finish_backward();
}

void Fsdp::update() {
    std::vector<Operand> operands(context_.weights.size());
    const DType type = context_.plan().precision.parameter;
    for (const FsdpGroup& group : groups_) {
        std::int64_t offset = 0;
        for (const ShardedWeight& weight : group.weights) {
            operands[index_of(weight.id)] = {*group.sharded_gradient, Access::read, false,
                                             bytes_of(offset, type), bytes_of(weight.shard_count, type)};
            offset += weight.shard_count;
        }
    }
    optimizer_.step(operands);
    communication_.end_step(groups_);
}

}  // namespace

std::unique_ptr<PytorchPolicy> make_fsdp(PytorchContext& context) { return std::make_unique<Fsdp>(context); }

}  // namespace wirewise
