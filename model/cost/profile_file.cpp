// Reads calibration/profiles/*.json. Quantities are text with a unit; factors are plain numbers; every group
// says where its numbers come from.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "model/cost/cost_profile.hpp"
#include "model/cost/profile_files.hpp"
#include "model/cost/profile_json.hpp"
#include "model/cost/runtime_costs.hpp"
#include "model/program/own_kernels.hpp"
#include "model/topology/json_view.hpp"
#include "model/units/embedded.hpp"

namespace wirewise {
namespace {

double factor(const JsonView& view) {
    const double value = view.number();
    if (!(value >= 0) || !std::isfinite(value)) view.refuse("is negative", "write a number from 0 up");
    return value;
}

double positive_factor(const JsonView& view) {
    const double value = factor(view);
    if (value == 0) view.refuse("is zero", "write a number above zero");
    return value;
}

template <class Rate>
Rate positive(const JsonView& view, Rate rate) {
    if (!(rate.value() > 0)) view.refuse("is not above zero", "write a positive rate");
    return rate;
}
BytesPerSecond bandwidth(const JsonView& view) { return positive(view, view.bandwidth()); }
FlopsPerSecond flop_rate(const JsonView& view) { return positive(view, view.flops_per_second()); }

// A single number's source and date may be left to its group.
Origin read_facts(const JsonView& node) {
    Origin origin;
    if (node.has("source")) origin.source = node.at("source").text();
    if (node.has("date")) origin.date = node.at("date").text();
    if (node.has("samples")) origin.samples = static_cast<int>(factor(node.at("samples")));
    if (node.has("residual")) origin.residual = factor(node.at("residual"));
    if (node.has("spread")) origin.spread = factor(node.at("spread"));
    return origin;
}

Origin read_origin(const JsonView& group) {
    const JsonView node = group.at("origin");
    node.at("source"), node.at("date");
    return read_facts(node);
}

GemmCosts read_gemm(const JsonView& node) {
    GemmCosts costs;
    const JsonView rates = node.at("rate");
    for (const std::string& name : rates.keys()) {
        const auto type = dtype_from(name);
        if (!type) rates.at(name).refuse("is not a number format", "use bf16, fp16, fp32, fp8");
        costs.rate[*type] = flop_rate(rates.at(name));
    }
    if (!costs.rate.contains(DType::bf16) || !costs.rate.contains(DType::fp16) ||
        !costs.rate.contains(DType::fp32))
        rates.refuse("lacks a rate", "give bf16, fp16 and fp32");
    costs.fixed = node.at("fixed").seconds();
    costs.small_tile_penalty = factor(node.at("small_tile_penalty"));
    costs.prologue = factor(node.at("prologue"));
    if (node.has("unaligned_factor")) costs.unaligned_factor = positive_factor(node.at("unaligned_factor"));
    return costs;
}

RateCurve read_curve(const JsonView& node) {
    RateCurve curve;
    for (const JsonView& point : node.items()) {
        const double log_flops = factor(point.at("log2_flops"));
        if (!curve.empty() && log_flops <= curve.back().first)
            point.refuse("is out of order", "sort by log2_flops");
        curve.emplace_back(log_flops, flop_rate(point.at("rate")));
    }
    if (curve.empty()) node.refuse("is empty", "give at least one point");
    return curve;
}

AttentionCosts read_attention(const JsonView& node) {
    AttentionCosts costs{read_curve(node.at("forward")), read_curve(node.at("backward")),
                         factor(node.at("half_head_factor")), factor(node.at("in_step_factor"))};
    if (node.has("masked_factor")) costs.masked_factor = positive_factor(node.at("masked_factor"));
    return costs;
}

MemoryCosts read_memory(const JsonView& node) {
    MemoryCosts costs;
    costs.vector_rate = bandwidth(node.at("vector_rate"));
    costs.reduction_rate = bandwidth(node.at("reduction_rate"));
    costs.gather_rate = bandwidth(node.at("gather_rate"));
    costs.broadcast_elements_per_second = positive_factor(node.at("broadcast_elements_per_second"));
    costs.fixed = node.at("fixed").seconds();
    costs.minimum = node.at("minimum").seconds();
    costs.gap = node.at("gap").seconds();
    if (const auto kernels = node.find("kernels"))
        for (const std::string& kind : kernels->keys()) {
            const JsonView kernel = kernels->at(kind);
            if (!own_kernel(kind)) kernel.refuse("is no kernel of ours", "write norm_forward, ...");
            costs.kernels[kind] = {kernel.at("fixed").seconds(), bandwidth(kernel.at("rate"))};
        }
    return costs;
}

OptimizerCosts read_optimizer(const JsonView& node) {
    return {bandwidth(node.at("rate")), positive_factor(node.at("elements_per_second")),
            factor(node.at("in_step_factor"))};
}

ContentionCosts read_contention(const JsonView& node) {
    ContentionCosts costs{factor(node.at("vector_share")),
                          factor(node.at("start_delay")),
                          positive_factor(node.at("side_kernel_rate")),
                          {}};
    if (const auto wires = node.find("wires"))
        for (const std::string& transport : wires->keys()) {
            const JsonView wire = wires->at(transport);
            costs.wires[transport] = {factor(wire.at("slowdown")), factor(wire.at("start_delay")),
                                      factor(wire.at("collective_slowdown"))};
        }
    return costs;
}

CopyCosts read_copy(const JsonView& node) {
    return {bandwidth(node.at("device_to_host")), bandwidth(node.at("host_to_device")),
            bandwidth(node.at("device_to_device")), node.at("fixed").seconds()};
}

MemoryCollective read_collective(const JsonView& node) {
    return {node.at("fixed").seconds(), bandwidth(node.at("rate"))};
}

RuntimeCosts read_runtime(const JsonView& node) {
    RuntimeCosts costs;
    costs.kernel = node.at("kernel").seconds();
    costs.collective = node.at("collective").seconds();
    costs.copy = node.at("copy").seconds();
    costs.event = node.at("event").seconds();
    costs.hook = node.at("hook").seconds();
    costs.optimizer_loop = node.at("optimizer_loop").seconds();
    costs.synchronize = node.at("synchronize").seconds();
    costs.run_ahead = factor(node.at("run_ahead"));
    if (const auto rate = node.find("host_rate")) costs.host_rate = bandwidth(*rate);
    costs.context_bytes = node.at("context").bytes();
    const JsonView communicator = node.at("communicator");
    for (const std::string& transport : communicator.keys())
        costs.communicator_bytes[transport] = communicator.at(transport).bytes();
    return costs;
}

Width read_width(const JsonView& node) { return {factor(node.at("half_width")), read_facts(node)}; }

StepWidths::Range read_range(const JsonView& node, const char* key) {
    if (!node.has(key)) return {};
    const std::vector<JsonView> ends = node.at(key).items();
    if (ends.size() != 2) node.at(key).refuse("is not a range", "write [least, most]");
    return {factor(ends[0]), factor(ends[1])};
}

StepWidths read_step_widths(const JsonView& node) {
    return {read_width(node.at("gpu_bound")), read_width(node.at("host_bound")),
            read_width(node.at("extrapolated")), read_range(node, "tokens"),
            read_range(node, "sequence_length")};
}

MemoryWidths read_memory_widths(const JsonView& node) {
    MemoryWidths widths{read_width(node.at("allocated")),
                        read_width(node.at("reserved")),
                        read_width(node.at("device_used")),
                        {1, {}}};
    if (const auto outcome = node.find("expected_outcome"))
        widths.expected_outcome = {factor(outcome->at("share")), read_facts(*outcome)};
    return widths;
}

// Memory widths of runtimes that the node does not name stay as they are.
void read_intervals(const JsonView& node, Widths& widths) {
    if (const auto step = node.find("step"))
        for (const std::string& runtime : step->keys())
            widths.step[runtime] = read_step_widths(step->at(runtime));
    if (const auto memory = node.find("memory"))
        for (const std::string& runtime : memory->keys())
            widths.memory[runtime] = read_memory_widths(memory->at(runtime));
    if (const auto kernel = node.find("kernel"))
        for (const std::string& kind : kernel->keys()) widths.kernel[kind] = read_width(kernel->at(kind));
}

CostProfile read_profile(const JsonView& root) {
    if (const std::string schema = root.at("schema").text(); schema != "wirewise.profile/1")
        root.at("schema").refuse("is " + schema, "expected \"wirewise.profile/1\"");
    CostProfile profile;
    profile.name = root.at("name").text();
    profile.gpu = root.at("gpu").text();
    profile.measured = true;
    profile.multiprocessors = root.at("multiprocessors").integer(1, 65536);
    profile.gemm = read_gemm(root.at("gemm"));
    profile.attention = read_attention(root.at("attention"));
    profile.memory = read_memory(root.at("memory"));
    profile.optimizer = read_optimizer(root.at("optimizer"));
    const JsonView power = root.at("power"), contention = root.at("contention");
    profile.power = {factor(power.at("knee")), factor(power.at("slope")), factor(power.at("limit"))};
    profile.contention = read_contention(contention);
    profile.copy = read_copy(root.at("copy"));
    profile.runtimes = default_runtimes();
    const JsonView runtimes = root.at("runtimes");
    for (const std::string& name : runtimes.keys()) {
        profile.runtimes[name] = read_runtime(runtimes.at(name));
        profile.origins["runtimes/" + name] = read_origin(runtimes.at(name));
    }
    for (const char* group : {"gemm", "attention", "memory", "optimizer", "power", "contention", "copy"})
        profile.origins[group] = read_origin(root.at(group));
    if (const auto terms = root.find("terms"))
        for (const std::string& pointer : terms->keys())
            profile.terms[pointer] = read_facts(terms->at(pointer));
    if (const auto collectives = root.find("collectives"))
        for (const std::string& name : collectives->keys())
            profile.collectives[name] = read_collective(collectives->at(name));
    profile.widths = data_sheet_widths();
    if (const auto intervals = root.find("intervals")) {
        if (intervals->has("step"))
            profile.widths.step.clear();  // measured ones take the place of all others
        read_intervals(*intervals, profile.widths);
    }
    return profile;
}

CostProfile parse_profile(std::string_view text, const std::string& place) {
    return profile_from_json(parse_topology_json(text, place), place);
}

std::string text_of(const std::string& file) {
    if (!std::filesystem::is_regular_file(file))
        throw InputError(file, "is not a file", "name a profile's JSON file");
    std::ifstream stream(file);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf()))
        throw InputError(file, "cannot be read", "check its permissions");
    return text.str();
}

}  // namespace

CostProfile profile_from_json(const Json& json, const std::string& place) {
    return read_profile(JsonView(json, place));
}

Widths data_sheet_widths() {
    Widths widths;
    for (const EmbeddedFile& file : interval_files()) {
        const std::string place(file.name);
        const Json json = parse_topology_json(file.text, place);
        read_intervals(JsonView(json, place), widths);
    }
    return widths;
}

CostProfile load_profile(const std::string& file) { return parse_profile(text_of(file), file); }

CostProfile profile_for(const GpuModel& gpu) {
    for (const EmbeddedFile& file : profile_files())
        if (file.name == gpu.name + ".json") return parse_profile(file.text, std::string(file.name));
    return profile_from_data_sheet(gpu);
}

const RuntimeCosts& CostProfile::runtime(std::string_view runtime_name) const {
    const auto found = runtimes.find(std::string(runtime_name));
    ensure(found != runtimes.end(), "the profile has costs for every runtime");
    return found->second;
}

}  // namespace wirewise
