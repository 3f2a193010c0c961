#include "model/strategy/native/projection.hpp"

#include "model/units/error.hpp"

namespace wirewise {

using enum ParameterUse;

std::int64_t ProjectionEmitter::width(Unit unit) const {
    const AttentionShape& dims = shape(unit);
    return dims.query_width() + dims.key_width() + dims.value_width();
}

LinearShape ProjectionEmitter::shape_of(Unit unit, ParameterUse use) const {
    for (const FlatTensor& tensor : context_.layout.of(unit).tensors())
        if (tensor.parameter->use == use)
            return {tensor.parameter->shape.at(1), tensor.parameter->shape.at(0)};
    ensure(false, "a projection of the layer is missing");
    return {};
}

std::vector<ProjectionEmitter::Path> ProjectionEmitter::paths(Unit unit) const {
    const UnitLayout& layout = context_.layout.of(unit);
    if (!shape(unit).latent)
        return {{.up = {"qkv",
                        unit,
                        {context_.model().hidden, width(unit)},
                        layout.of({query, key, value, query_key_value}),
                        layout.biases_of({query, key, value, query_key_value})}}};
    const auto linear = [&](std::string_view name, ParameterUse use) {
        return Linear{name, unit, shape_of(unit, use), layout.of({use}), layout.biases_of({use})};
    };
    std::vector<Path> all;
    if (layout.of({query_down}).empty())
        all.push_back({.up = linear("query", query)});
    else
        all.push_back({linear("query down", query_down), linear("query up", query_up), true});
    all.push_back({linear("key and value down", kv_down), linear("key and value up", kv_up), true});
    return all;
}

BufferId ProjectionEmitter::activation(std::string_view name, std::int64_t columns, Role role) {
    const DType type = context_.compute_type();
    return context_.build().transient(name, bytes_of(context_.tokens() * columns, type), type, role,
                                      context_.streams.compute);
}

ProjectionSaved ProjectionEmitter::forward(Unit unit, BufferId input) {
    ProgramBuilder& build = context_.build();
    ProjectionSaved saved{.input = input, .projected = activation("qkv", width(unit))};
    for (const Path& path : paths(unit)) {
        BufferId source = input;
        if (path.latent) {
            source = activation("latent", path.down.shape.outputs);
            linears_.forward(path.down, context_.tokens(), build.read(input), build.write(source));
            saved.latents.push_back(source);
        }
        linears_.forward(path.up, context_.tokens(), build.read(source), build.write(saved.projected));
    }
    return saved;
}

void ProjectionEmitter::backward(Unit unit, const ProjectionSaved& saved, BufferId dprojected, Operand dx) {
    ProgramBuilder& build = context_.build();
    auto latent = saved.latents.begin();
    for (const Path& path : paths(unit)) {
        const BufferId source = path.latent ? *latent++ : saved.input;
        const Operand dy = build.read(dprojected);
        linears_.weight_gradient(path.up, context_.tokens(), dy, build.read(source));
        if (path.latent) {
            const BufferId dlatent = activation("latent gradient", path.down.shape.outputs);
            linears_.data_gradient(path.up, context_.tokens(), dy, build.write(dlatent));
            linears_.weight_gradient(path.down, context_.tokens(), build.read(dlatent),
                                     build.read(saved.input));
            linears_.data_gradient(path.down, context_.tokens(), build.read(dlatent), dx);
        } else {
            linears_.data_gradient(path.up, context_.tokens(), dy, dx);
        }
        dx.access = Access::update;  // the next path adds
    }
}

}  // namespace wirewise
