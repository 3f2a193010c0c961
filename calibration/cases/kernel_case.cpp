// Kernel samples: matrix products, attention, copies and optimizer updates timed alone.
#include <fmt/format.h>

#include "calibration/cases/kinds.hpp"

namespace wirewise {

namespace {

MeasuredCase kernel_case(const JsonLine& line, const std::string& id, Kernel kernel, double microseconds) {
    MeasuredCase result;
    result.id = id;
    result.place = line.place();
    const std::string machine = line.needed_text("machine");
    result.labels = {"measured", machine, "", line.text("kind")};
    result.subject = KernelCase{machine, std::move(kernel)};
    result.readings.push_back({MeasuredQuantity::kernel_seconds, microseconds * 1e-6});
    return result;
}

std::vector<MeasuredCase> gemm_cases(const JsonLine& line) {
    Gemm gemm{.m = line.integer("m"), .n = line.integer("n"), .k = line.integer("k")};
    if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1)
        line.refuse("m", "m, n and k must be positive", "write the shape");
    const std::string layout = line.text("layout");
    if (layout == "dgrad") gemm.layout = GemmLayout::data_gradient;
    if (layout == "wgrad") gemm.layout = GemmLayout::weight_gradient;
    const std::string id =
        fmt::format("gemm-{}-{}x{}x{}", layout.empty() ? "fwd" : layout, gemm.m, gemm.n, gemm.k);
    return {kernel_case(line, id, gemm, line.positive("us"))};
}

std::vector<MeasuredCase> attention_cases(const JsonLine& line) {
    Attention kernel;
    kernel.batch = line.integer("batch");
    kernel.sequence = line.integer("seq");
    kernel.heads = line.integer("heads");
    kernel.kv_heads = line.has("kv_heads") ? line.integer("kv_heads") : kernel.heads;
    kernel.head_dim = kernel.value_head_dim = line.integer("dim");
    const std::string backend = line.text("backend");
    const std::string id = fmt::format("sdpa-{}-b{}-s{}-h{}/{}-d{}", backend, kernel.batch, kernel.sequence,
                                       kernel.heads, kernel.kv_heads, kernel.head_dim);
    std::vector<MeasuredCase> cases;
    for (const bool backward : {false, true}) {
        kernel.backward = backward;
        cases.push_back(kernel_case(line, id + (backward ? "-backward" : "-forward"), kernel,
                                    line.positive(backward ? "bwd_us" : "fwd_us")));
        // One profile describes one library's attention; PyTorch takes cuDNN's where it can.
        if (backend != "cudnn")
            cases.back().set_aside = "attention of another library than the one PyTorch chooses";
    }
    return cases;
}

// Parameters, gradients and moments of one type: four are read, three written.
MeasuredCase update_case(const JsonLine& line, DType type) {
    constexpr std::int64_t kTensors = 7;
    OptimizerUpdate update{
        .count = line.integer("params"), .parameter = type, .gradient = type, .state = type};
    update.traffic = kTensors * bytes_of(update.count, type);
    return kernel_case(line, fmt::format("{}-{}", line.text("kind"), update.count), update,
                       line.positive("us"));
}

MeasuredCase unpredicted(const JsonLine& line) {
    MeasuredCase result =
        kernel_case(line, line.text("kind"), Pointwise{}, line.has("us") ? line.positive("us") : 0);
    result.set_aside = "not a kernel of a step";
    return result;
}

}  // namespace

std::vector<MeasuredCase> kernel_cases(const JsonLine& line) {
    const std::string kind = line.needed_text("kind");
    if (kind == "gemm") return gemm_cases(line);
    if (kind == "sdpa") return attention_cases(line);
    if (kind == "copy" && line.has("bytes")) {
        const Bytes moved(2 * line.integer("bytes"));  // read and written
        const Pointwise copy{.kind = PointwiseKind::copy,
                             .access = AccessClass::vector,
                             .rows = 1,
                             .columns = moved.count() / 4,
                             .traffic = moved};
        return {kernel_case(line, fmt::format("copy-{}", line.integer("bytes")), copy, line.positive("us"))};
    }
    for (const DType type : {DType::bf16, DType::fp32})
        if (kind == fmt::format("adamw_fused_{}", name_of(type))) return {update_case(line, type)};
    return {unpredicted(line)};
}

}  // namespace wirewise
