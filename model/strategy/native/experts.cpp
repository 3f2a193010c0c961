#include "model/strategy/native/experts.hpp"

#include <array>

namespace wirewise {

Linear ExpertsEmitter::router(Unit unit) const {
    const UnitLayout& layout = context_.layout.of(unit);
    return {"router",
            unit,
            {context_.model().hidden, shape(unit).experts},
            layout.of({ParameterUse::router}),
            layout.biases_of({ParameterUse::router})};
}

BufferId ExpertsEmitter::activation(std::string_view name, std::int64_t rows, std::int64_t columns) {
    const DType type = context_.compute_type();
    return context_.build().transient(name, bytes_of(rows * columns, type), type, Role::activation,
                                      context_.streams.compute);
}

// Sends each token's row to its top_k experts' queues, or brings the results back: tokens x (1 + top_k) rows
// move.
void ExpertsEmitter::move_rows(std::string_view name, Unit unit, std::span<const Operand> operands) {
    const std::int64_t rows = context_.tokens() * (1 + shape(unit).top_k), columns = context_.model().hidden;
    context_.build().compute(context_.streams.compute, name,
                             Pointwise{.kind = PointwiseKind::copy,
                                       .access = AccessClass::gather,
                                       .rows = rows,
                                       .columns = columns,
                                       .traffic = bytes_of(rows * columns, context_.compute_type()),
                                       .type = context_.compute_type()},
                             operands);
}

ExpertsSaved ExpertsEmitter::forward(Unit unit, BufferId input, Operand y, std::optional<Operand> addend) {
    ProgramBuilder& build = context_.build();
    const MlpPart routed = mlp_.routed(unit);
    const std::int64_t hidden = context_.model().hidden;
    ExpertsSaved saved{.input = input,
                       .scores = activation("router scores", context_.tokens(), shape(unit).experts)};
    linears_.forward(router(unit), context_.tokens(), build.read(input), build.write(saved.scores));
    saved.sent = activation("tokens for experts", routed.rows, hidden);
    move_rows("dispatch", unit,
              std::array{build.read(input), build.read(saved.scores), build.write(saved.sent)});
    saved.returned = activation("expert results", routed.rows, hidden);
    saved.routed = mlp_.forward(routed, saved.sent, build.write(saved.returned));
    std::vector<Operand> operands{build.read(saved.returned), build.read(saved.scores)};
    if (shape(unit).shared_intermediate > 0) {
        const BufferId common = activation("shared experts", context_.tokens(), hidden);
        saved.shared = mlp_.forward(mlp_.shared(unit), input, build.write(common));
        operands.push_back(build.read(common));
    }
    if (addend) operands.push_back(*addend);
    operands.push_back(y);
    move_rows("combine", unit, operands);
    return saved;
}

void ExpertsEmitter::backward(Unit unit, const ExpertsSaved& saved, Operand dy, Operand dx) {
    ProgramBuilder& build = context_.build();
    const MlpPart routed = mlp_.routed(unit);
    const std::int64_t hidden = context_.model().hidden;
    const BufferId dreturned = activation("expert result gradients", routed.rows, hidden);
    move_rows("combine", unit,
              std::array{dy, build.read(saved.returned), build.update(saved.scores), build.write(dreturned)});
    const BufferId dsent = activation("expert input gradients", routed.rows, hidden);
    mlp_.backward(routed, saved.routed, build.read(dreturned), build.write(dsent));
    move_rows("dispatch", unit, std::array{build.read(dsent), dx});
    dx.access = Access::update;
    if (shape(unit).shared_intermediate > 0) mlp_.backward(mlp_.shared(unit), saved.shared, dy, dx);
    linears_.data_gradient(router(unit), context_.tokens(), build.read(saved.scores), dx);
    linears_.weight_gradient(router(unit), context_.tokens(), build.read(saved.scores),
                             build.read(saved.input));
}

}  // namespace wirewise
