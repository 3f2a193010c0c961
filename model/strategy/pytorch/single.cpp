#include <utility>

#include "model/strategy/pytorch/optimizer.hpp"
#include "model/strategy/pytorch/policy.hpp"
#include "model/strategy/pytorch/whole_weights.hpp"

namespace wirewise {

namespace {

std::vector<PytorchOptimizer::Item> all_items(const PytorchContext& context, const WholeWeights& weights) {
    std::vector<PytorchOptimizer::Item> items;
    for (std::size_t i = 0; i < context.weights.size(); ++i) {
        const auto id = static_cast<WeightId>(i);
        items.push_back({weights.buffer(id), context.weights.at(id).count()});
    }
    return items;
}

class Single final : public PytorchPolicy {
  public:
    explicit Single(PytorchContext& context)
        : context_(context),
          weights_(context),
          optimizer_(context, all_items(context, weights_)),
          gradients_(context.weights.size()) {}

    void load() override { build_model(context_, weights_.buffers()); }
    std::vector<BufferId> stored_parameters() const override {
        return {weights_.buffers().begin(), weights_.buffers().end()};
    }
    void begin_step() override {}
    void before_forward(Unit) override {}
    void after_forward(Unit) override {}
    void before_backward(Unit) override {}
    void after_backward(Unit) override {}
    void end_backward() override {}

    BufferId readable(WeightId weight) const override { return weights_.buffer(weight); }
    void take_gradient(WeightId weight, Tensor gradient) override {
        Tensor& kept = gradients_[index_of(weight)];
        if (kept.defined())
            weights_.accumulate(weight, gradient, context_.tape.storages.use(kept, Access::update).buffer);
        else
            kept = std::move(gradient);
    }
    void update() override {
        std::vector<Operand> operands;
        for (const Tensor& gradient : gradients_)
            operands.push_back(
                context_.build().read(context_.tape.storages.use(gradient, Access::read).buffer));
        optimizer_.step(operands);
        for (Tensor& gradient : gradients_) gradient = {};  // zero_grad
    }

  private:
    PytorchContext& context_;
    WholeWeights weights_;
    PytorchOptimizer optimizer_;
    std::vector<Tensor> gradients_;
};

}  // namespace

std::unique_ptr<PytorchPolicy> make_single(PytorchContext& context) {
    return std::make_unique<Single>(context);
}

}  // namespace wirewise
