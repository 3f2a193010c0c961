#include "model/strategy/pytorch/gradient_order.hpp"

#include "model/strategy/pytorch/decoder.hpp"
#include "model/strategy/pytorch/policy.hpp"

namespace wirewise {

namespace {

// Only listens.
class Recorder final : public PytorchPolicy {
  public:
    explicit Recorder(PytorchContext& context)
        : buffer_(context.build().persistent("weight", Bytes(1), DType::bf16, Role::parameter,
                                             context.compute)) {}
    void load() override {}
    std::vector<BufferId> stored_parameters() const override { return {buffer_}; }
    void begin_step() override {}
    void before_forward(Unit) override {}
    void after_forward(Unit) override {}
    void before_backward(Unit) override {}
    void after_backward(Unit) override {}
    void end_backward() override {}
    void update() override {}
    BufferId readable(WeightId) const override { return buffer_; }
    void take_gradient(WeightId weight, Tensor) override { order.push_back(weight); }

    std::vector<WeightId> order;

  private:
    BufferId buffer_;
};

// One layer of each kind: what happens within a layer depends on its kind alone.
Transformer one_of_each_kind(const Transformer& model) {
    Transformer small = model;
    small.layers.clear();
    for (std::size_t kind = 0; kind < model.kinds.size(); ++kind)
        small.layers.push_back(static_cast<std::uint16_t>(kind));
    return small;
}

}  // namespace

std::vector<WeightId> gradient_order(const PytorchContext& context) {
    const Transformer small = one_of_each_kind(context.model());
    ParallelPlan plan = context.plan();
    plan.gradient_accumulation = 1;
    Emission emission{small, plan, Phase::steady_step,
                      ProgramBuilder(Phase::steady_step, FreeRule::at_last_use)};
    PytorchContext scratch(emission);
    Recorder recorder(scratch);
    scratch.tape.set_owner(recorder);
    EagerDecoder decoder(scratch);
    emit_step(emission, decoder, recorder);

    // Index of each weight within its unit, so that the order of a kind serves all its layers.
    const auto first = [](const WeightTable& table, Unit unit) { return index_of(table.of(unit).front()); };
    std::vector<WeightId> order;
    const auto append_kind = [&](std::size_t kind, Unit layer) {
        const Unit sample{static_cast<std::int32_t>(kind)};
        const std::size_t from = first(scratch.weights, sample), to = first(context.weights, layer);
        for (const WeightId id : recorder.order)
            if (scratch.weights.at(id).unit.layer == sample.layer)
                order.push_back(static_cast<WeightId>(index_of(id) - from + to));
    };
    const auto append_layers = [&] {
        for (std::int64_t layer = context.model().layer_count(); layer-- > 0;)
            append_kind(context.model().layers[static_cast<std::size_t>(layer)],
                        {static_cast<std::int32_t>(layer)});
    };
    const std::size_t small_before = small.root_before.size();
    const std::size_t shift = context.weights.size() - scratch.weights.size();
    bool layers_done = false;
    for (const WeightId id : recorder.order) {
        const bool root = scratch.weights.at(id).unit.root();
        if (!root && !layers_done) append_layers();
        layers_done |= !root;
        if (root)
            order.push_back(
                static_cast<WeightId>(index_of(id) < small_before ? index_of(id) : index_of(id) + shift));
    }
    return order;
}

}  // namespace wirewise
