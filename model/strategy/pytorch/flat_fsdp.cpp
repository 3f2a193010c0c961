#include <utility>

#include "model/strategy/pytorch/flat_communication.hpp"
#include "model/strategy/pytorch/fsdp_group.hpp"
#include "model/strategy/pytorch/optimizer.hpp"
#include "model/strategy/pytorch/policy.hpp"
#include "model/strategy/pytorch/whole_weights.hpp"

namespace wirewise {

namespace {

// The root first: parameters() order.
std::vector<FlatUnit> make_units(PytorchContext& context) {
    std::vector<FlatUnit> units;
    units.emplace_back(context, Unit{});
    for (std::int32_t layer = 0; layer < context.model().layer_count(); ++layer)
        units.emplace_back(context, Unit{layer});
    return units;
}

class FlatFsdp final : public PytorchPolicy {
  public:
    explicit FlatFsdp(PytorchContext& context)
        : context_(context),
          communication_(context),
          units_(make_units(context)),
          optimizer_(context, items()),
          reshards_(sharding_of(context.plan().strategy).reshard_after_forward) {}

    void load() override;
    std::vector<BufferId> stored_parameters() const override {
        std::vector<BufferId> shards;
        for (const FlatUnit& unit : units_) shards.push_back(unit.shard);
        return shards;
    }
    void end_evaluation() override {
        for (FlatUnit& unit : units_) communication_.reshard_in_forward(unit);
    }
    void begin_step() override;
    void before_forward(Unit unit) override;
    void after_forward(Unit unit) override;
    void before_backward(Unit unit) override;
    void after_backward(Unit unit) override;
    void end_backward() override;
    void update() override;

    BufferId readable(WeightId weight) const override {
        const FlatUnit& unit = units_[index_of(context_.weights.at(weight).unit)];
        ensure(unit.whole.has_value(), "a weight is gathered before it is used");
        return *unit.whole;
    }
    void take_gradient(WeightId weight, Tensor gradient) override;

  private:
    struct GradientPart {  // of what the optimizer updates
        const FlatUnit* unit;
        std::int64_t offset, count;
    };
    std::vector<PytorchOptimizer::Item> items();
    static std::size_t index_of(Unit unit) { return static_cast<std::size_t>(unit.layer + 1); }
    FlatUnit& own(Unit unit) { return units_[index_of(unit)]; }
    void hook() { context_.hook("FSDP hook"); }

    PytorchContext& context_;
    FlatCommunication communication_;
    std::vector<FlatUnit> units_;  // the root, then the layers
    std::vector<GradientPart> gradients_;
    PytorchOptimizer optimizer_;
    bool reshards_;
};

// Each layer's weights are joined into a flat copy and its shard cloned from it; then both go. The modules
// keep the weights until then (use_orig_params).
void FlatFsdp::load() {
    ProgramBuilder& build = context_.build();
    const DType type = context_.plan().precision.parameter;
    const std::vector<BufferId> whole = weights_to_cut(context_);
    if (built_whole(context_.plan())) build_model(context_, whole);
    const auto wrap = [&](const FlatUnit& unit) {
        std::vector<BufferId> weights;
        for (const WeightId id : unit.weights) weights.push_back(whole[wirewise::index_of(id)]);
        if (!built_whole(context_.plan())) build.allocate(weights);
        const BufferId flat = build.transient("joined weights", bytes_of(unit.count, type), type,
                                              Role::parameter, context_.compute);
        build.allocate(flat);
        build.allocate(unit.shard);
        build.release(flat);
        build.release(weights);
    };
    for (std::size_t i = 1; i < units_.size(); ++i) wrap(units_[i]);
    wrap(units_.front());
}

// With use_orig_params the optimizer sees what its shards hold of each weight, in parameters() order; else
// the flat parameters.
std::vector<PytorchOptimizer::Item> FlatFsdp::items() {
    std::vector<PytorchOptimizer::Item> items;
    for (FlatUnit& unit : units_)
        if (!context_.plan().use_orig_params) {
            items.push_back({unit.shard, unit.shard_count});
            gradients_.push_back({&unit, 0, unit.shard_count});
        } else {
            for (const FlatUnit::Part& part : unit.parts(context_.weights)) {
                items.push_back({unit.shard, part.count, part.offset});
                gradients_.push_back({&unit, part.offset, part.count});
            }
        }
    return items;
}

void FlatFsdp::begin_step() {
    context_.build().allocate(stored_parameters());
    if (context_.phase() == Phase::first_step) communication_.make_storages(units_);
}

void FlatFsdp::before_forward(Unit unit) {
    hook();
    if (unit.root()) communication_.begin_forward();
    communication_.gather(own(unit));
    communication_.finish_gather(own(unit));
    context_.build().at_layer(unit.layer);
}

// The root stays gathered for backward.
void FlatFsdp::after_forward(Unit unit) {
    hook();
    if (reshards_ && !unit.root()) communication_.reshard_in_forward(own(unit));
}

// BACKWARD_PRE: the next unit's gather is issued before this one's backward.
void FlatFsdp::before_backward(Unit unit) {
    hook();
    communication_.gather(own(unit));
    communication_.finish_gather(own(unit));
    const std::size_t next = unit.root() ? units_.size() - 1 : index_of(unit) - 1;
    if (next > 0) communication_.gather(units_[next]);
    context_.build().at_layer(unit.layer);
}

void FlatFsdp::take_gradient(WeightId weight, Tensor gradient) {
    FlatUnit& unit = own(context_.weights.at(weight).unit);
    for (std::size_t i = 0; i < unit.weights.size(); ++i)
        if (unit.weights[i] == weight) unit.gradients[i] = std::move(gradient);
}

// Without a reduction, SHARD_GRAD_OP keeps its parameters for the next micro-batch.
void FlatFsdp::after_backward(Unit unit) {
    hook();
    FlatUnit& flat = own(unit);
    context_.build().at_layer(unit.layer);
    communication_.join_gradients(flat);
    if (context_.synchronises() || reshards_) communication_.reshard_in_backward(flat);
    if (context_.synchronises()) communication_.reduce(flat);
}

void FlatFsdp::end_backward() {
    if (context_.synchronises()) communication_.finish_backward();
}

void FlatFsdp::update() {
    std::vector<Operand> gradients;
    const DType type = context_.plan().precision.parameter;
    for (const GradientPart& part : gradients_)
        gradients.push_back(ProgramBuilder::read(*part.unit->sharded_gradient, bytes_of(part.offset, type),
                                                 bytes_of(part.count, type)));
    optimizer_.step(gradients);
    communication_.end_step(units_);
}

}  // namespace

std::unique_ptr<PytorchPolicy> make_flat_fsdp(PytorchContext& context) {
    return std::make_unique<FlatFsdp>(context);
}

}  // namespace wirewise
