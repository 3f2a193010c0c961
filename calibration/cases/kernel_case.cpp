// Kernel samples: matrix products, attention, memory-bound kernels, optimizer updates and transfers, timed
// alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibration/cases/kinds.hpp"
#include "model/program/own_kernels.hpp"

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

bool flag(const JsonLine& line, const char* key) {
    if (!line.has(key)) return false;
    if (!line.row().at(key).is_boolean()) line.refuse(key, "is no flag", "write true or false");
    return line.row().at(key).get<bool>();
}

std::int64_t extent(const JsonLine& line, const char* key) {
    const std::int64_t value = line.integer(key);
    if (value < 1) line.refuse(key, "is not above zero", "write the size");
    return value;
}

DType dtype_of(const JsonLine& line, const char* key, DType otherwise) {
    if (!line.has(key)) return otherwise;
    const auto type = dtype_from(line.text(key));
    if (!type) line.refuse(key, "is no number format", "write bf16, fp16 or fp32");
    return *type;
}

std::vector<MeasuredCase> gemm_cases(const JsonLine& line) {
    Gemm gemm{.m = line.integer("m"), .n = line.integer("n"), .k = line.integer("k")};
    if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1)
        line.refuse("m", "m, n and k must be positive", "write the shape");
    const std::string layout = line.text("layout");
    if (layout == "dgrad") gemm.layout = GemmLayout::data_gradient;
    if (layout == "wgrad") gemm.layout = GemmLayout::weight_gradient;
    gemm.type = dtype_of(line, "dtype", DType::bf16);
    gemm.result = dtype_of(line, "result", gemm.type);
    gemm.accumulate = flag(line, "accumulate");
    const std::string id =
        fmt::format("gemm-{}-{}x{}x{}", layout.empty() ? "fwd" : layout, gemm.m, gemm.n, gemm.k);
    MeasuredCase sample = kernel_case(line, id, gemm, line.positive("us"));
    if (flag(line, "sustained")) {
        sample.id += "-sustained";
        std::get<KernelCase>(sample.subject).sustained = true;
    }
    return {sample};
}

std::vector<MeasuredCase> attention_cases(const JsonLine& line) {
    Attention kernel;
    kernel.batch = extent(line, "batch");
    kernel.sequence = extent(line, "seq");
    kernel.heads = extent(line, "heads");
    kernel.kv_heads = line.has("kv_heads") ? extent(line, "kv_heads") : kernel.heads;
    kernel.head_dim = kernel.value_head_dim = extent(line, "dim");
    const std::string backend = line.text("backend");
    const std::string id = fmt::format("sdpa-{}-b{}-s{}-h{}/{}-d{}", backend, kernel.batch, kernel.sequence,
                                       kernel.heads, kernel.kv_heads, kernel.head_dim);
    std::vector<MeasuredCase> cases;
    for (const bool backward : {false, true}) {
        kernel.backward = backward;
        if (!line.has(backward ? "bwd_us" : "fwd_us")) continue;
        cases.push_back(kernel_case(line, id + (backward ? "-backward" : "-forward"), kernel,
                                    line.positive(backward ? "bwd_us" : "fwd_us")));
        // One profile describes one library's attention; PyTorch takes cuDNN's where it can.
        if (backend != "cudnn" && !backend.empty())
            cases.back().set_aside = "attention of another library than the one PyTorch chooses";
    }
    return cases;
}

// Parameters, gradients and moments of one type: four are read, three written.
MeasuredCase update_case(const JsonLine& line, DType type) {
    constexpr std::int64_t kTensors = 7;
    OptimizerUpdate update{
        .count = extent(line, "params"), .parameter = type, .gradient = type, .state = type};
    update.traffic = kTensors * bytes_of(update.count, type);
    return kernel_case(line, fmt::format("{}-{}", line.text("kind"), update.count), update,
                       line.positive("us"));
}

// "op": one of our own kernels by name, as `bench` writes it; any other is a kernel of some framework.
MeasuredCase pointwise_case(const JsonLine& line) {
    constexpr std::array<AccessClass, 4> kClasses{AccessClass::vector, AccessClass::broadcast,
                                                  AccessClass::reduction, AccessClass::gather};
    const std::string access = line.needed_text("access");
    const auto found = std::find_if(kClasses.begin(), kClasses.end(),
                                    [&](AccessClass one) { return name_of(one) == access; });
    if (found == kClasses.end())
        line.refuse("access", "is no class", "write vector, broadcast, reduction or gather");
    const Pointwise kernel{.kind = own_kernel(line.text("op")).value_or(PointwiseKind::eager),
                           .access = *found,
                           .rows = extent(line, "rows"),
                           .columns = extent(line, "columns"),
                           .traffic = Bytes(extent(line, "bytes")),
                           .type = dtype_of(line, "dtype", DType::bf16)};
    const std::string op = line.has("op") ? line.text("op") : access;
    return kernel_case(line, fmt::format("{}-{}x{}", op, kernel.rows, kernel.columns), kernel,
                       line.positive("us"));
}

MeasuredCase transfer_case(const JsonLine& line, MemorySpace from, MemorySpace to) {
    MeasuredCase result = kernel_case(line, fmt::format("{}-{}", line.text("kind"), extent(line, "bytes")),
                                      Pointwise{}, line.positive("us"));
    result.subject = TransferCase{line.needed_text("machine"), from, to, Bytes(extent(line, "bytes"))};
    return result;
}

MeasuredCase copy_case(const JsonLine& line) {
    if (flag(line, "engine")) return transfer_case(line, MemorySpace::device, MemorySpace::device);
    const Bytes moved(2 * extent(line, "bytes"));  // read and written
    const Pointwise copy{.kind = PointwiseKind::copy,
                         .access = AccessClass::vector,
                         .rows = 1,
                         .columns = moved.count() / 4,
                         .traffic = moved};
    return kernel_case(line, fmt::format("copy-{}", extent(line, "bytes")), copy, line.positive("us"));
}

MeasuredCase unpredicted(const JsonLine& line) {
    MeasuredCase result =
        kernel_case(line, line.text("kind"), Pointwise{}, line.has("us") ? line.positive("us") : 0);
    result.set_aside = "not a kernel of a step";
    return result;
}

// Launches and fixed memory, as `bench` writes them: of our own executor's process where no other is named.
MeasuredCase process_case(const JsonLine& line) {
    MeasuredCase result = unpredicted(line);
    const bool launch = line.text("kind") == "launch";
    ProcessCase process{
        line.needed_text("machine"), line.has("runtime") ? line.text("runtime") : "native", {}, {}, {}};
    if (launch)
        process.launch = Seconds(line.positive("us") * 1e-6);
    else if (line.has("communicator_bytes"))
        process.communicator = {line.needed_text("transport"), Bytes(line.integer("communicator_bytes"))};
    else
        process.fixed_memory = Bytes(line.integer("context_bytes") + line.integer("libraries_bytes"));
    if (process.fixed_memory < 0_B || process.communicator.second < 0_B)
        line.refuse("context_bytes", "is negative", "write what the process holds");
    result.subject = std::move(process);
    return result;
}

}  // namespace

std::vector<MeasuredCase> kernel_cases(const JsonLine& line) {
    const std::string kind = line.needed_text("kind");
    if (kind == "gemm") return gemm_cases(line);
    if (kind == "sdpa") return attention_cases(line);
    if (kind == "pointwise") return {pointwise_case(line)};
    if (kind == "copy" && line.has("bytes")) return {copy_case(line)};
    if (kind == "h2d") return {transfer_case(line, MemorySpace::host, MemorySpace::device)};
    if (kind == "d2h") return {transfer_case(line, MemorySpace::device, MemorySpace::host)};
    if (kind == "launch" || kind == "fixed_memory") return {process_case(line)};
    for (const DType type : {DType::bf16, DType::fp32})
        if (kind == fmt::format("adamw_fused_{}", name_of(type))) return {update_case(line, type)};
    return {unpredicted(line)};
}

}  // namespace wirewise
