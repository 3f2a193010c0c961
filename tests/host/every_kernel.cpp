#include "tests/host/every_kernel.hpp"

#include <array>

#include "model/strategy/native/buffer_names.hpp"

namespace wirewise::test {

namespace {

using enum PointwiseKind;

constexpr std::int64_t kT = kEveryTokens, kH = 8, kHeads = 2, kKv = 1, kD = 4, kV = 6, kI = 8;
constexpr std::int64_t kQueryKey = (kHeads + kKv) * kD, kWidth = kQueryKey + kKv * kD;

class Writer {
  public:
    Writer() : b_(Phase::steady_step) {
        compute_ = b_.stream("compute", StreamKind::compute);
        wire_ = b_.stream("wire", StreamKind::communication);
        for (const Axis axis : {Axis::shard, Axis::world}) b_.set_axis_size(axis, 2);
        tokens_ = ids(native_buffer::tokens);
        targets_ = ids(native_buffer::targets);
        weights_ = persistent("parameters", 256, Role::parameter);
        states_ = persistent("states", 512, Role::optimizer);
        loss_ = persistent("loss", 1, Role::workspace);
        norm_ = persistent("norm", 1, Role::workspace);
        b_.at_layer(0);
    }

    StepProgram write() && {
        fetch();
        forward();
        backward();
        small_kernels();
        communicate();
        update();
        return std::move(b_).finish();
    }

  private:
    BufferId ids(std::string_view name) {
        return b_.persistent(name, bytes_of(kT, DType::int32), DType::int32, Role::workspace, compute_);
    }
    BufferId persistent(std::string_view name, std::int64_t count, Role role) {
        return b_.persistent(name, bytes_of(count, DType::fp32), DType::fp32, role, compute_);
    }
    BufferId fresh(std::int64_t count) {
        return b_.transient("values", bytes_of(count, DType::fp32), DType::fp32, Role::activation, compute_);
    }
    Operand weight(std::int64_t count, Access access = Access::read) const {
        return {weights_, access, false, Bytes(0), bytes_of(count, DType::fp32)};
    }
    void pointwise(PointwiseKind kind, std::int64_t rows, std::int64_t columns,
                   std::initializer_list<Operand> operands) {
        b_.compute(
            compute_, name_of(kind),
            Pointwise{
                .kind = kind, .rows = rows, .columns = columns, .traffic = Bytes(64), .type = DType::fp32},
            operands);
    }
    BufferId result_of(PointwiseKind kind, std::int64_t count, std::initializer_list<Operand> reads) {
        const BufferId result = fresh(count);
        std::vector<Operand> operands(reads);
        operands.push_back(b_.write(result));
        b_.compute(
            compute_, name_of(kind),
            Pointwise{.kind = kind, .rows = 1, .columns = count, .traffic = Bytes(64), .type = DType::fp32},
            operands);
        return result;
    }
    Gemm gemm(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) const {
        return {.layout = layout, .m = m, .n = n, .k = k, .type = DType::fp32, .result = DType::fp32};
    }
    Attention attention(bool backward) const {
        return {.backward = backward,
                .batch = 1,
                .sequence = kT,
                .heads = kHeads,
                .kv_heads = kKv,
                .head_dim = kD,
                .value_head_dim = kD,
                .type = DType::fp32};
    }

    void fetch() {
        b_.host_work(compute_, "hook", {HostWorkKind::hook, 1});
        for (const BufferId ids : {tokens_, targets_})
            b_.copy(compute_, "fetch", {MemorySpace::host, MemorySpace::device, bytes_of(kT, DType::int32)},
                    {b_.write(ids)});
        for (const BufferId scalar : {loss_, norm_}) pointwise(fill_zero, 1, 1, {b_.write(scalar)});
    }

    void forward() {
        x_ = fresh(kT * kH);
        pointwise(embedding_forward, kT, kH, {b_.read(tokens_), weight(kV * kH), b_.write(x_)});
        pointwise(position_add, kT, kH, {b_.update(x_), weight(kT * kH)});
        normed_ = fresh(kT * kH);
        statistics_ = fresh(kT);
        pointwise(norm_forward, kT, kH, {b_.read(x_), weight(kH), b_.write(normed_), b_.write(statistics_)});
        pointwise(norm_recompute, kT, kH, {b_.read(x_), weight(kH), b_.read(statistics_), b_.write(normed_)});
        projected_ = fresh(kT * kWidth);
        b_.compute(compute_, "projection", gemm(GemmLayout::forward, kT, kWidth, kH),
                   {b_.read(normed_), weight(kWidth * kH), b_.write(projected_)});
        rotated_ = fresh(kT * kQueryKey);
        head_statistics_ = fresh(kT * (kHeads + kKv));
        pointwise(head_norm_forward, kT, kQueryKey,
                  {b_.read(projected_), weight(2 * kD), b_.write(rotated_), b_.write(head_statistics_)});
        pointwise(rope_forward, kT, kQueryKey, {b_.update(rotated_)});
        attended_ = fresh(kT * kHeads * kD);
        log_sum_exp_ = fresh(kT * kHeads);
        b_.compute(compute_, "attention", attention(false),
                   {b_.read(rotated_), b_.read(projected_), b_.write(attended_), b_.write(log_sum_exp_)});
        expanded_ = fresh(kT * 2 * kI);
        b_.compute(compute_, "expansion", gemm(GemmLayout::forward, kT, 2 * kI, kH),
                   {b_.read(attended_), weight(2 * kI * kH), b_.write(expanded_)});
        const BufferId product = fresh(kT * kI);
        pointwise(activation_forward, kT, kI, {b_.read(expanded_), b_.write(product)});
        sum_ = result_of(add, kT * kH, {b_.read(product), b_.read(x_)});
    }

    void backward() {
        b_.in_section(Section::backward);
        const BufferId logits = fresh(kT * kV);
        b_.compute(compute_, "head", gemm(GemmLayout::forward, kT, kV, kH),
                   {b_.read(sum_), weight(kV * kH), b_.write(logits)});
        pointwise(cross_entropy_forward, kT, kV, {b_.read(logits), b_.read(targets_), b_.update(loss_)});
        pointwise(cross_entropy, kT, kV, {b_.update(logits), b_.read(targets_), b_.update(loss_)});
        gradient_ = fresh(256);
        pointwise(fill_zero, 1, 256, {b_.write(gradient_)});
        const BufferId dsum = fresh(kT * kH);
        b_.compute(compute_, "head", gemm(GemmLayout::data_gradient, kT, kH, kV),
                   {b_.read(logits), weight(kV * kH), b_.write(dsum)});
        b_.compute(compute_, "head", gemm(GemmLayout::weight_gradient, kV, kH, kT),
                   {b_.read(logits), b_.read(sum_), part(kV * kH, Access::write)});
        pointwise(activation_backward, kT, kI, {b_.read(dsum), b_.update(expanded_)});
        const BufferId dprojected = fresh(kT * kWidth);
        b_.compute(compute_, "attention", attention(true),
                   {b_.read(rotated_), b_.read(projected_), b_.read(attended_), b_.read(log_sum_exp_),
                    b_.read(dsum), b_.write(dprojected)});
        pointwise(rope_backward, kT, kQueryKey, {b_.update(dprojected)});
        pointwise(head_norm_backward, kT, kQueryKey,
                  {b_.update(dprojected), b_.read(projected_), weight(2 * kD), b_.read(head_statistics_),
                   part(2 * kD, Access::update)});
        pointwise(norm_backward, kT, kH,
                  {b_.read(dsum), b_.read(x_), weight(kH), b_.read(statistics_), b_.update(dsum),
                   part(kH, Access::update)});
        pointwise(position_backward, kT, kH, {b_.read(dsum), part(kT * kH, Access::update)});
        pointwise(embedding_backward, kT, kH,
                  {b_.read(tokens_), b_.read(dsum), part(kV * kH, Access::update)});
    }
    Operand part(std::int64_t count, Access access) const {
        return {gradient_, access, false, Bytes(0), bytes_of(count, DType::fp32)};
    }

    void small_kernels() {
        const BufferId copied = result_of(PointwiseKind::copy, 256, {b_.read(gradient_)});
        const BufferId narrowed = b_.transient("bf16", Bytes(512), DType::bf16, Role::activation, compute_);
        pointwise(cast, 1, 256, {b_.read(copied), b_.write(narrowed)});
        pointwise(accumulate, 1, 256, {b_.read(narrowed), b_.update(gradient_)});
        pointwise(squared_norm, 1, 256, {b_.read(gradient_), b_.update(norm_)});
        factor_ = result_of(clip_scale, 1, {b_.read(norm_)});
        pointwise(scale, 1, 256, {b_.update(gradient_), b_.read(factor_)});
        const BufferId moved = fresh(256);
        const Bytes bytes = bytes_of(256, DType::fp32);
        b_.copy(compute_, "move", {MemorySpace::device, MemorySpace::device, bytes},
                {b_.read(gradient_), b_.write(moved)});
        b_.copy(compute_, "offload", {MemorySpace::device, MemorySpace::host, bytes}, {b_.read(gradient_)});
        b_.copy(compute_, "fetch back", {MemorySpace::host, MemorySpace::device, bytes},
                {b_.write(gradient_)});
    }

    void communicate() {
        b_.join(wire_, compute_);
        const Bytes bytes = bytes_of(256, DType::fp32);
        const BufferId other = b_.transient("received", bytes, DType::fp32, Role::communication, wire_);
        b_.allocate(other);
        const auto call = [&](CollectiveKind kind, std::initializer_list<Operand> operands) {
            b_.collective(wire_, name_of(kind), {kind, Axis::world, DType::fp32, bytes, true}, operands);
        };
        call(CollectiveKind::all_reduce, {b_.update(gradient_)});
        call(CollectiveKind::reduce_scatter, {b_.update(gradient_)});
        call(CollectiveKind::all_gather, {b_.update(gradient_)});
        call(CollectiveKind::broadcast, {b_.read(gradient_), b_.write(other)});
        call(CollectiveKind::all_to_all, {b_.read(gradient_), b_.write(other)});
        b_.send(wire_, "send", {Axis::world, 1, bytes}, b_.read(gradient_));
        b_.receive(wire_, "receive", {Axis::world, -1, bytes}, b_.write(other));
        b_.join(compute_, wire_);
        b_.release(other);
    }

    void update() {
        b_.in_section(Section::update);
        const OptimizerUpdate adamw{.count = 256, .parameter = DType::fp32, .gradient = DType::fp32};
        const Bytes half = bytes_of(256, DType::fp32);
        b_.compute(compute_, "update", adamw,
                   {b_.read(gradient_), b_.update(weights_), ProgramBuilder::update(states_, Bytes(0), half),
                    ProgramBuilder::update(states_, half, half), b_.read(factor_)});
    }

    ProgramBuilder b_;
    StreamId compute_{}, wire_{};
    BufferId tokens_{}, targets_{}, weights_{}, states_{}, loss_{}, norm_{};
    BufferId x_{}, normed_{}, statistics_{}, projected_{}, rotated_{}, head_statistics_{}, attended_{},
        log_sum_exp_{};
    BufferId expanded_{}, sum_{}, gradient_{}, factor_{};
};

}  // namespace

Transformer every_kernel_model() {
    Transformer model;
    model.model_type = "llama";
    model.hidden = kH;
    model.vocabulary = kV;
    Layer layer;
    layer.attention = {
        .heads = kHeads, .kv_heads = kKv, .head_dim = kD, .value_head_dim = kD, .rotary_dim = kD};
    model.kinds = {layer};
    model.layers = {0};
    return model;
}

StepProgram every_kernel() { return Writer().write(); }

}  // namespace wirewise::test
