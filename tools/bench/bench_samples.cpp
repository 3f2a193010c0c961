#include "tools/bench/bench_samples.hpp"

#include <fmt/format.h>

namespace wirewise {

namespace {

constexpr double kMicro = 1e6;

Json row_of(const std::string& kind, const BenchOrigin& origin) {
    return {{"kind", kind}, {"machine", origin.machine}, {"date", origin.date}, {"source", origin.source}};
}

void add_time(Json& row, const Timing& time, const std::string& key = "us") {
    row[key] = time.median.value() * kMicro;
    row["spread_us"] = time.spread.value() * kMicro;
    row["repeats"] = time.repeats;
}

const char* layout_of(GemmLayout layout) {
    switch (layout) {
        case GemmLayout::forward:
            return "fwd";
        case GemmLayout::data_gradient:
            return "dgrad";
        case GemmLayout::weight_gradient:
            break;
    }
    return "wgrad";
}

class RowOf {
  public:
    RowOf(const Timing& time, const BenchOrigin& origin) : time_(time), origin_(origin) {}

    std::optional<Json> operator()(const Gemm& gemm) const {
        Json row = row_of("gemm", origin_);
        row.update({{"layout", layout_of(gemm.layout)}, {"m", gemm.m}, {"n", gemm.n}, {"k", gemm.k}});
        row.update({{"dtype", name_of(gemm.type)},
                    {"result", name_of(gemm.result)},
                    {"accumulate", gemm.accumulate}});
        add_time(row, time_);
        return row;
    }
    std::optional<Json> operator()(const Attention& attention) const {
        Json row = row_of("sdpa", origin_);
        row.update({{"backend", "cudnn"}, {"batch", attention.batch}, {"seq", attention.sequence}});
        row.update(
            {{"heads", attention.heads}, {"kv_heads", attention.kv_heads}, {"dim", attention.head_dim}});
        add_time(row, time_, attention.backward ? "bwd_us" : "fwd_us");
        return row;
    }
    std::optional<Json> operator()(const Pointwise& kernel) const {
        Json row = row_of("pointwise", origin_);
        row.update({{"op", name_of(kernel.kind)}, {"access", name_of(kernel.access)}, {"rows", kernel.rows}});
        row.update({{"columns", kernel.columns},
                    {"bytes", kernel.traffic.count()},
                    {"dtype", name_of(kernel.type)}});
        add_time(row, time_);
        return row;
    }
    // A row says one dtype: of parameters, gradients and moments alike.
    std::optional<Json> operator()(const OptimizerUpdate& update) const {
        if (update.parameter != update.gradient || update.parameter != update.state || update.master)
            return std::nullopt;
        Json row = row_of(fmt::format("adamw_fused_{}", name_of(update.parameter)), origin_);
        row["params"] = update.count;
        add_time(row, time_);
        return row;
    }

  private:
    const Timing& time_;
    const BenchOrigin& origin_;
};

void add_wire(Json& row, const WireOrigin& wire) {
    row.update({{"wire", wire.label},
                {"gpu", wire.gpu},
                {"transport", wire.transport},
                {"path", wire.path},
                {"in_switch", wire.in_switch},
                {"gpus", wire.gpus.size()},
                {"gpu_ids", wire.gpus},
                {"nccl_env", wire.nccl_env}});
}

double slowdown_of(const Timing& beside, const Timing& alone) {
    return beside.median.value() / alone.median.value() - 1;
}

}  // namespace

std::optional<Json> kernel_row(const KernelTiming& timing, const BenchOrigin& origin) {
    return std::visit(RowOf(timing.time, origin), timing.kernel);
}

Json transfer_row(const TransferTiming& timing, const BenchOrigin& origin) {
    const bool up = timing.from == MemorySpace::host, down = timing.to == MemorySpace::host;
    Json row = row_of(up ? "h2d" : down ? "d2h" : "copy", origin);
    row["bytes"] = timing.bytes.count();
    if (!up && !down) row["engine"] = true;
    add_time(row, timing.time);
    return row;
}

Json launch_row(const Timing& timing, const BenchOrigin& origin) {
    Json row = row_of("launch", origin);
    add_time(row, timing);
    return row;
}

Json memory_row(const DeviceCosts& costs, const BenchOrigin& origin) {
    Json row = row_of("fixed_memory", origin);
    row["context_bytes"] = costs.context.count();
    row["libraries_bytes"] = costs.libraries.count();
    return row;
}

Json collective_row(const CollectiveTiming& timing, const WireOrigin& wire, const BenchOrigin& origin) {
    Json row = row_of("collective", origin);
    add_wire(row, wire);
    row.update(
        {{"op", name_of(timing.kind)}, {"bytes", timing.bytes.count()}, {"dtype", name_of(DType::bf16)}});
    add_time(row, timing.time);
    const double algbw = static_cast<double>(timing.bytes.count()) / timing.time.median.value() / 1e9;
    row["algbw_gigabytes_per_second"] = algbw;
    row["busbw_gigabytes_per_second"] = algbw * busbw_factor(timing.kind, timing.ranks);
    return row;
}

std::optional<Json> contention_row(const ContentionTiming& timing, const WireOrigin& wire,
                                   const BenchOrigin& origin) {
    if (timing.product_beside.repeats == 0 || timing.collective_beside.repeats == 0) return std::nullopt;
    Json row = row_of("contention", origin);
    add_wire(row, wire);
    row.update({{"op", name_of(timing.collective.kind)}, {"bytes", timing.collective.bytes.count()}});
    const Gemm& product = timing.product;
    row.update({{"m", product.m}, {"n", product.n}, {"k", product.k}});
    add_time(row, timing.product_alone, "gemm_us");
    add_time(row, timing.collective.time);
    row["matrix_slowdown"] = slowdown_of(timing.product_beside, timing.product_alone);
    row["collective_slowdown"] = slowdown_of(timing.collective_beside, timing.collective.time);
    return row;
}

Json communicator_row(Bytes device_memory, const WireOrigin& wire, const BenchOrigin& origin) {
    Json row = row_of("fixed_memory", origin);
    add_wire(row, wire);
    row["communicator_bytes"] = device_memory.count();
    return row;
}

}  // namespace wirewise
