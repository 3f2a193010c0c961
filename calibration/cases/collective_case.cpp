// Measured and published collectives.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "calibration/cases/kinds.hpp"

namespace wirewise {

namespace {

std::vector<std::string> environment_of(const JsonLine& line) {
    std::vector<std::string> assignments;
    if (!line.has("nccl_env")) return assignments;
    const JsonLine environment = line.object("nccl_env");
    for (const auto& [name, value] : environment.row().items())
        assignments.push_back(
            fmt::format("{}={}", name, value.is_string() ? value.get<std::string>() : value.dump()));
    return assignments;
}

// "gpu_ids": [2, 3], as `bench` writes them; else the first "gpus" of the machine.
std::vector<int> gpus_of(const JsonLine& line) {
    constexpr std::int64_t kMostGpus = 4096;
    const std::int64_t count = line.integer("gpus");
    if (count < 2 || count > kMostGpus) line.refuse("gpus", "is no group of GPUs", "write 2 or more");
    std::vector<int> gpus(static_cast<std::size_t>(count));
    std::iota(gpus.begin(), gpus.end(), 0);
    if (!line.has("gpu_ids")) return gpus;
    const nlohmann::json& ids = line.row().at("gpu_ids");
    const auto is_gpu = [](const nlohmann::json& id) {
        return id.is_number_integer() && id >= 0 && id < kMostGpus;
    };
    if (!ids.is_array() || ids.size() != gpus.size() || !std::all_of(ids.begin(), ids.end(), is_gpu))
        line.refuse("gpu_ids", "does not name as many GPUs as \"gpus\" says", "write [0, 1]");
    return ids.get<std::vector<int>>();
}

PublishedCollective call_of(const JsonLine& line) {
    PublishedCollective call;
    call.machine = line.needed_text("machine");
    const auto kind = collective_from(line.needed_text("op"));
    if (!kind)
        line.refuse("op", fmt::format("unknown collective \"{}\"", line.text("op")), "write all_reduce, ...");
    call.op = *kind;
    call.bytes = Bytes(line.integer("bytes"));
    if (call.bytes < 1_B) line.refuse("bytes", "is not above zero", "write the full buffer's bytes");
    call.gpus = gpus_of(line);
    call.nccl_env = environment_of(line);
    return call;
}

double slowdown_of(const JsonLine& line, const char* key) {
    const double slowdown = line.number(key);
    if (slowdown <= -1) line.refuse(key, "is no slowdown", "write 0.12 for 1.12 times as long");
    return slowdown;
}

}  // namespace

MeasuredCase contention_case(const JsonLine& line) {
    ContentionCase contention{call_of(line),
                              {.m = line.integer("m"), .n = line.integer("n"), .k = line.integer("k")},
                              slowdown_of(line, "matrix_slowdown"),
                              slowdown_of(line, "collective_slowdown")};
    const Gemm& gemm = contention.gemm;
    if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1)
        line.refuse("m", "m, n and k must be positive", "write the shape");
    MeasuredCase result;
    result.id = fmt::format("{} of {} beside {}x{}x{}", line.text("op"), contention.collective.bytes.count(),
                            gemm.m, gemm.n, gemm.k);
    result.place = line.place();
    result.labels = {"measured", contention.collective.machine, line.text("wire"), ""};
    result.set_aside = "no quantity of a step";
    result.subject = std::move(contention);
    return result;
}

MeasuredCase collective_case(const JsonLine& line) {
    PublishedCollective call = call_of(line);
    MeasuredCase result;
    result.id = line.has("id") ? line.text("id")
                               : fmt::format("{}-{}-{}-{}", line.text("wire"), line.text("op"),
                                             call.gpus.size(), call.bytes.count());
    result.place = line.place();
    result.labels = {"measured", call.machine, line.text("wire"), line.text("op")};
    if (line.has("us"))
        result.readings.push_back({MeasuredQuantity::collective_seconds, line.positive("us") * 1e-6});
    if (line.has("busbw_gigabytes_per_second"))
        result.readings.push_back(
            {MeasuredQuantity::busbw, line.positive("busbw_gigabytes_per_second") * 1e9});
    if (result.readings.empty()) line.refuse("us", "is missing", "write us or busbw_gigabytes_per_second");
    result.subject = std::move(call);
    return result;
}

std::vector<MeasuredCase> published_collective_cases(const std::string& file) {
    std::vector<MeasuredCase> cases;
    for (PublishedCollective& run : read_published_collectives(file)) {
        MeasuredCase one;
        one.id = run.id;
        one.place = run.id;
        const bool pasted = run.machine.starts_with('{') || run.machine.find('/') != std::string::npos;
        one.labels = {"published collectives", pasted ? run.gpu : run.machine,
                      run.nodes > 1 ? "network" : "one node", std::string(name_of(run.op))};
        one.set_aside = run.set_aside;
        one.readings.push_back({MeasuredQuantity::busbw, run.busbw.value()});
        one.subject = std::move(run);
        cases.push_back(std::move(one));
    }
    return cases;
}

}  // namespace wirewise
