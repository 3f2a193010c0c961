#include <fmt/format.h>

#include "model/cost/profile_json.hpp"

namespace wirewise {
namespace {

Json number(double value) { return Json::parse(fmt::format("{:.6g}", value)); }

std::string text(FlopsPerSecond rate) { return fmt::format("{:.6g} TFLOP/s", rate.value() * 1e-12); }
std::string text(BytesPerSecond rate) { return fmt::format("{:.6g} GB/s", rate.value() * 1e-9); }
std::string text(Seconds time) { return fmt::format("{:.6g} us", time.value() * 1e6); }
std::string text(Bytes bytes) {
    const bool even = bytes.count() % 1000 == 0;
    return even ? fmt::format("{} kB", bytes.count() / 1000) : fmt::format("{} B", bytes.count());
}

Json facts_json(const Origin& origin) {
    Json json = Json::object();
    if (!origin.source.empty()) json["source"] = origin.source;
    if (!origin.date.empty()) json["date"] = origin.date;
    if (origin.samples > 0) json["samples"] = origin.samples;
    if (origin.residual > 0) json["residual"] = number(origin.residual);
    if (origin.spread > 0) json["spread"] = number(origin.spread);
    return json;
}

Json origin_json(const CostProfile& profile, const std::string& group) {
    const auto found = profile.origins.find(group);
    Json json = found == profile.origins.end() ? Json::object() : facts_json(found->second);
    if (!json.contains("source")) json["source"] = "not stated";
    if (!json.contains("date")) json["date"] = "";
    return json;
}

Json gemm_json(const GemmCosts& costs) {
    Json json;
    for (const auto& [type, rate] : costs.rate) json["rate"][std::string(name_of(type))] = text(rate);
    json["fixed"] = text(costs.fixed);
    json["small_tile_penalty"] = number(costs.small_tile_penalty);
    json["prologue"] = number(costs.prologue);
    json["unaligned_factor"] = number(costs.unaligned_factor);
    return json;
}

Json curve_json(const RateCurve& curve) {
    Json json = Json::array();
    for (const auto& [log_flops, rate] : curve)
        json.push_back({{"log2_flops", number(log_flops)}, {"rate", text(rate)}});
    return json;
}

Json attention_json(const AttentionCosts& costs) {
    return {{"forward", curve_json(costs.forward)},
            {"backward", curve_json(costs.backward)},
            {"half_head_factor", number(costs.half_head_factor)},
            {"in_step_factor", number(costs.in_step_factor)},
            {"masked_factor", number(costs.masked_factor)}};
}

Json memory_json(const MemoryCosts& costs) {
    Json json{{"vector_rate", text(costs.vector_rate)},
              {"reduction_rate", text(costs.reduction_rate)},
              {"gather_rate", text(costs.gather_rate)},
              {"broadcast_elements_per_second", number(costs.broadcast_elements_per_second)},
              {"fixed", text(costs.fixed)},
              {"minimum", text(costs.minimum)},
              {"gap", text(costs.gap)}};
    for (const auto& [kind, kernel] : costs.kernels)
        json["kernels"][kind] = {{"fixed", text(kernel.fixed)}, {"rate", text(kernel.rate)}};
    return json;
}

Json optimizer_json(const OptimizerCosts& costs) {
    return {{"rate", text(costs.rate)},
            {"elements_per_second", number(costs.elements_per_second)},
            {"in_step_factor", number(costs.in_step_factor)}};
}

Json contention_json(const ContentionCosts& costs) {
    Json json{{"vector_share", number(costs.vector_share)},
              {"start_delay", number(costs.start_delay)},
              {"side_kernel_rate", number(costs.side_kernel_rate)}};
    for (const auto& [transport, wire] : costs.wires)
        json["wires"][transport] = {{"slowdown", number(wire.slowdown)},
                                    {"start_delay", number(wire.start_delay)},
                                    {"collective_slowdown", number(wire.collective_slowdown)}};
    return json;
}

Json copy_json(const CopyCosts& costs) {
    return {{"device_to_host", text(costs.device_to_host)},
            {"host_to_device", text(costs.host_to_device)},
            {"device_to_device", text(costs.device_to_device)},
            {"fixed", text(costs.fixed)}};
}

Json runtime_json(const RuntimeCosts& costs) {
    Json json{{"kernel", text(costs.kernel)},
              {"collective", text(costs.collective)},
              {"copy", text(costs.copy)},
              {"event", text(costs.event)},
              {"hook", text(costs.hook)},
              {"optimizer_loop", text(costs.optimizer_loop)},
              {"synchronize", text(costs.synchronize)},
              {"run_ahead", number(costs.run_ahead)},
              {"context", text(costs.context_bytes)},
              {"communicator", Json::object()}};
    for (const auto& [transport, bytes] : costs.communicator_bytes)
        json["communicator"][transport] = text(bytes);
    return json;
}

Json width_json(const Width& width) {
    Json json{{"half_width", number(width.half)}};
    json.update(facts_json(width.origin));
    return json;
}

Json step_json(const StepWidths& widths) {
    Json json{{"gpu_bound", width_json(widths.gpu_bound)},
              {"host_bound", width_json(widths.host_bound)},
              {"extrapolated", width_json(widths.extrapolated)}};
    if (widths.tokens.said()) json["tokens"] = {number(widths.tokens.least), number(widths.tokens.most)};
    if (widths.sequence.said())
        json["sequence_length"] = {number(widths.sequence.least), number(widths.sequence.most)};
    return json;
}

Json memory_json(const MemoryWidths& widths) {
    Json json{{"allocated", width_json(widths.allocated)},
              {"reserved", width_json(widths.reserved)},
              {"device_used", width_json(widths.device_used)}};
    if (widths.expected_outcome.half < 1) {
        json["expected_outcome"] = {{"share", number(widths.expected_outcome.half)}};
        json["expected_outcome"].update(facts_json(widths.expected_outcome.origin));
    }
    return json;
}

Json intervals_json(const Widths& widths) {
    Json json{{"step", Json::object()}, {"memory", Json::object()}, {"kernel", Json::object()}};
    for (const auto& [runtime, step] : widths.step) json["step"][runtime] = step_json(step);
    for (const auto& [runtime, memory] : widths.memory) json["memory"][runtime] = memory_json(memory);
    for (const auto& [kind, width] : widths.kernel) json["kernel"][kind] = width_json(width);
    return json;
}

}  // namespace

Json to_json(const CostProfile& profile) {
    Json json{{"schema", "wirewise.profile/1"},
              {"name", profile.name},
              {"gpu", profile.gpu},
              {"multiprocessors", profile.multiprocessors},
              {"gemm", gemm_json(profile.gemm)},
              {"attention", attention_json(profile.attention)},
              {"memory", memory_json(profile.memory)},
              {"optimizer", optimizer_json(profile.optimizer)},
              {"power",
               {{"knee", number(profile.power.knee)},
                {"slope", number(profile.power.slope)},
                {"limit", number(profile.power.limit)}}},
              {"contention", contention_json(profile.contention)},
              {"copy", copy_json(profile.copy)}};
    for (const char* group : {"gemm", "attention", "memory", "optimizer", "power", "contention", "copy"})
        json[group]["origin"] = origin_json(profile, group);
    for (const auto& [name, costs] : profile.runtimes) {
        json["runtimes"][name] = runtime_json(costs);
        json["runtimes"][name]["origin"] = origin_json(
            profile, profile.origins.contains("runtimes/" + name) ? "runtimes/" + name : "runtimes");
    }
    for (const auto& [name, costs] : profile.collectives)
        json["collectives"][name] = {{"fixed", text(costs.fixed)}, {"rate", text(costs.rate)}};
    json["terms"] = Json::object();
    for (const auto& [pointer, origin] : profile.terms) json["terms"][pointer] = facts_json(origin);
    json["intervals"] = intervals_json(profile.widths);
    return json;
}

}  // namespace wirewise
