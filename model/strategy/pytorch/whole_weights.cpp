#include "model/strategy/pytorch/whole_weights.hpp"

#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

std::string_view name_of(const Weight& weight) {
    switch (weight.parameter->use) {
        case ParameterUse::embedding:
            return "embedding weight";
        case ParameterUse::head:
            return "head weight";
        case ParameterUse::norm:
            return "norm weight";
        default:
            return "weight";
    }
}

WholeWeights::WholeWeights(PytorchContext& context) : context_(context) {
    const DType type = context.plan().precision.parameter;
    for (const Weight& weight : context.weights.all()) {
        context.build().at_layer(weight.unit.layer);
        buffers_.push_back(context.build().persistent(name_of(weight), bytes_of(weight.count(), type), type,
                                                      Role::parameter, context.compute));
    }
    context.build().at_layer(-1);
}

std::vector<BufferId> weights_to_cut(PytorchContext& context) {
    const DType type = context.plan().precision.parameter;
    std::vector<BufferId> whole;
    for (const Weight& weight : context.weights.all())
        whole.push_back(context.build().transient("whole weight", bytes_of(weight.count(), type), type,
                                                  Role::parameter, context.compute));
    return whole;
}

void build_model(PytorchContext& context, std::span<const BufferId> weights) {
    ProgramBuilder& build = context.build();
    build.allocate(weights);
    const Transformer& model = context.model();
    if (!model.tied_embeddings) return;
    const DType type = context.plan().precision.parameter;
    const BufferId head =
        build.transient("head weight before it is tied", bytes_of(model.vocabulary * model.hidden, type),
                        type, Role::parameter, context.compute);
    build.allocate(head);
    build.release(head);
}

Bytes WholeWeights::bytes(WeightId weight) const { return context_.build().at(buffer(weight)).bytes; }

void WholeWeights::accumulate(WeightId weight, const Tensor& gradient, BufferId into) {
    const Weight& w = context_.weights.at(weight);
    const std::array<Use, 2> uses{context_.tape.storages.use(gradient, Access::read),
                                  Use{into, StorageId::none, Access::update}};
    context_.tape.storages.compute("accumulate weight gradient",
                                   vector_kernel(w.rows, w.columns, 3 * gradient.bytes(), gradient.type),
                                   uses);
}

}  // namespace wirewise
