#include "model/strategy/native/head.hpp"

#include <algorithm>

#include "model/strategy/native/buffer_names.hpp"

namespace wirewise {

using enum ParameterUse;

namespace {
constexpr Unit kRoot{};
}

HeadEmitter::HeadEmitter(NativeContext& context, NativeParameters& parameters)
    : context_(context), parameters_(parameters), norms_(context, parameters), linears_(context, parameters) {
    context_.build().at_layer(-1);
    const auto ids = [&](std::string_view name) {
        return context_.build().persistent(name, bytes_of(context_.tokens(), DType::int32), DType::int32,
                                           Role::workspace, context_.streams.compute);
    };
    tokens_ = ids(native_buffer::tokens);
    targets_ = ids(native_buffer::targets);
}

// A tied head reads the embedding's table.
Linear HeadEmitter::head() const {
    const UnitLayout& layout = context_.layout.of(kRoot);
    const Slice own = layout.of({ParameterUse::head});
    return {"head",
            kRoot,
            {context_.model().hidden, context_.model().vocabulary},
            own.empty() ? layout.of({embedding}) : own,
            layout.biases_of({ParameterUse::head})};
}

Norm HeadEmitter::embedding_norm() const {
    const UnitLayout& layout = context_.layout.of(kRoot);
    return {"embedding norm", kRoot, layout.of({ParameterUse::embedding_norm}),
            layout.biases_of({ParameterUse::embedding_norm})};
}

Norm HeadEmitter::top_norm() const {
    const UnitLayout& layout = context_.layout.of(kRoot);
    return {"last norm", kRoot, layout.norm(0), layout.norm_bias(0)};
}

std::int64_t HeadEmitter::chunk_tokens() const {
    const std::int64_t chunk = context_.plan().loss_chunk;
    return chunk == 0 ? context_.tokens() : std::min(chunk, context_.tokens());
}

BufferId HeadEmitter::activation(std::string_view name) {
    const DType type = context_.compute_type();
    return context_.build().transient(name, bytes_of(context_.tokens() * context_.model().hidden, type), type,
                                      Role::activation, context_.streams.compute);
}

BufferId HeadEmitter::logits(std::int64_t rows) {
    const DType type = context_.compute_type();
    return context_.build().transient("logits", bytes_of(rows * context_.model().vocabulary, type), type,
                                      Role::logits, context_.streams.compute);
}

Operand HeadEmitter::rows_of(BufferId matrix, std::int64_t first, std::int64_t rows, Access access) const {
    const Bytes row = context_.build().at(matrix).bytes / context_.tokens();
    return {matrix, access, false, row * first, row * rows};
}

void HeadEmitter::clear(BufferId buffer, std::int64_t elements, std::string_view name) {
    context_.build().compute(
        context_.streams.compute, name,
        elementwise_kernel(PointwiseKind::fill_zero, elements, 1, context_.build().at(buffer).dtype),
        {context_.build().write(buffer)});
}

void HeadEmitter::begin_micro_batch() {
    context_.build().at_layer(-1);
    embedding_norm_.reset();
    if (context_.emission.micro_batch == 0) clear(parameters_.loss(), 1, "clear loss");
    fetch(tokens_);
    fetch(targets_);
}

// The micro-batch's part of the batch, from host memory.
void HeadEmitter::fetch(BufferId ids) {
    const Buffer& buffer = context_.build().at(ids);
    context_.build().copy(context_.streams.compute, buffer.name.text,
                          {.from = MemorySpace::host, .to = MemorySpace::device, .bytes = buffer.bytes},
                          {context_.build().write(ids)});
}

BufferId HeadEmitter::embedding_forward() {
    ProgramBuilder& build = context_.build();
    build.at_layer(-1);
    const std::int64_t width = context_.model().hidden;
    const DType type = context_.compute_type();
    const UnitLayout& layout = context_.layout.of(kRoot);
    BufferId x = activation("embedded");
    build.compute(context_.streams.compute, "embedding",
                  embedding_kernel(context_.tokens(), width, type, type, false),
                  {build.read(tokens_), parameters_.weight(kRoot, layout.of({embedding})), build.write(x)});
    if (const Slice positions = layout.of({position_embedding}); !positions.empty())
        build.compute(context_.streams.compute, "positions",
                      elementwise_kernel(PointwiseKind::position_add, context_.tokens() * width, 3, type),
                      {build.update(x), parameters_.weight(kRoot, positions)});
    if (const Norm norm = embedding_norm(); !norm.weight.empty()) {
        embedding_norm_ = norms_.forward(norm, x);
        x = embedding_norm_->output;
    }
    return x;
}

void HeadEmitter::embedding_backward(BufferId dx) {
    ProgramBuilder& build = context_.build();
    build.at_layer(-1);
    const std::int64_t width = context_.model().hidden;
    const DType type = context_.compute_type();
    const UnitLayout& layout = context_.layout.of(kRoot);
    if (embedding_norm_) {
        const BufferId inner = activation("embedding gradient");
        norms_.backward(embedding_norm(), *embedding_norm_, build.read(dx), build.write(inner));
        dx = inner;
    }
    const auto gradient = [&](Slice slice) {
        Operand operand = parameters_.gradient(kRoot, slice);
        if (!parameters_.accumulates() && !context_.model().tied_embeddings)
            build.compute(
                context_.streams.compute, "clear table gradient",
                elementwise_kernel(PointwiseKind::fill_zero, slice.count, 1, parameters_.gradient_type()),
                {operand});
        operand.access = Access::update;
        return operand;
    };
    if (const Slice positions = layout.of({position_embedding}); !positions.empty())
        build.compute(
            context_.streams.compute, "positions",
            elementwise_kernel(PointwiseKind::position_backward, context_.tokens() * width, 2, type),
            {build.read(dx), gradient(positions)});
    build.compute(context_.streams.compute, "embedding",
                  embedding_kernel(context_.tokens(), width, type, parameters_.gradient_type(), true),
                  {build.read(tokens_), build.read(dx), gradient(layout.of({embedding}))});
}

void HeadEmitter::last_norm(BufferId x) {
    context_.build().at_layer(-1);
    normed_ = norms_.forward(top_norm(), x);
}

void HeadEmitter::chunk_forward(std::int64_t first, std::int64_t rows, BufferId logits, bool training) {
    ProgramBuilder& build = context_.build();
    linears_.forward(head(), rows, rows_of(normed_.output, first, rows, Access::read), build.write(logits));
    build.compute(context_.streams.compute, "loss",
                  cross_entropy_kernel(rows, context_.model().vocabulary, context_.compute_type(), training),
                  {training ? build.update(logits) : build.read(logits),
                   rows_of(targets_, first, rows, Access::read), build.update(parameters_.loss())});
}

BufferId HeadEmitter::loss_backward() {
    ProgramBuilder& build = context_.build();
    build.at_layer(-1);
    const BufferId dnormed = activation("normed gradient");
    for (std::int64_t first = 0; first < context_.tokens(); first += chunk_tokens()) {
        const std::int64_t rows = std::min(chunk_tokens(), context_.tokens() - first);
        const BufferId chunk = logits(rows);
        chunk_forward(first, rows, chunk, true);
        linears_.weight_gradient(head(), rows, build.read(chunk),
                                 rows_of(normed_.output, first, rows, Access::read), first > 0);
        linears_.data_gradient(head(), rows, build.read(chunk), rows_of(dnormed, first, rows, Access::write));
    }
    const BufferId dx = activation("residual gradient");
    norms_.backward(top_norm(), normed_, build.read(dnormed), build.write(dx));
    return dx;
}

void HeadEmitter::loss_forward() {
    context_.build().at_layer(-1);
    for (std::int64_t first = 0; first < context_.tokens(); first += chunk_tokens()) {
        const std::int64_t rows = std::min(chunk_tokens(), context_.tokens() - first);
        chunk_forward(first, rows, logits(rows), false);
    }
}

}  // namespace wirewise
