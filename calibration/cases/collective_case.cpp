// Measured and published collectives.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "calibration/cases/kinds.hpp"
#include "model/units/collective.hpp"

namespace wirewise {

namespace {

std::vector<std::string> environment_of(const JsonLine& line) {
    std::vector<std::string> assignments;
    if (!line.has("nccl_env")) return assignments;
    const JsonLine environment = line.object("nccl_env");
    for (const auto& [name, value] : environment.row().items())
        if (!value.is_string() && !value.is_number_integer())
            environment.refuse(name.c_str(), "is no value of a variable", "write a string");
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

// Slower than any wire that is a wire, or faster than any GPU's memory (10 TB/s) by a factor of ten: a slip
// of units.
void require_plausible(const JsonLine& line, const char* key, double busbw) {
    constexpr double kLeast = 1e3, kMost = 1e14;
    if (busbw < kLeast || busbw > kMost)
        line.refuse(key, fmt::format("means a bus rate of {:.3g} bytes/s", busbw),
                    "write us in microseconds, rates in GB/s and bytes of the full buffer");
}

// What the row measured; time and rate of one row must be of one run.
void read_measured(const JsonLine& line, const PublishedCollective& call, MeasuredCase& result) {
    const double bus_bytes =
        static_cast<double>(call.bytes.count()) * busbw_factor(call.op, static_cast<int>(call.gpus.size()));
    double of_time = 0;
    if (line.has("us")) {
        const double seconds = line.positive("us") * 1e-6;
        of_time = bus_bytes / seconds;
        require_plausible(line, "us", of_time);
        result.readings.push_back({MeasuredQuantity::collective_seconds, seconds});
    }
    constexpr const char* kRate = "busbw_gigabytes_per_second";
    if (line.has(kRate)) {
        const double busbw = line.positive(kRate) * 1e9;
        require_plausible(line, kRate, busbw);
        if (of_time > 0 && (busbw > 2 * of_time || of_time > 2 * busbw))
            line.refuse(kRate, fmt::format("is {:.3g} GB/s, but us means {:.3g}", busbw / 1e9, of_time / 1e9),
                        "leave out the one that is wrong");
        result.readings.push_back({MeasuredQuantity::busbw, busbw});
    }
    if (result.readings.empty()) line.refuse("us", "is missing", "write us or busbw_gigabytes_per_second");
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
    read_measured(line, call, result);
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
