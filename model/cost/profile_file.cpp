// Reads calibration/profiles/*.json. Quantities are text with a unit; factors are plain numbers; every group
// says where its numbers come from.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "model/cost/cost_profile.hpp"
#include "model/cost/profile_files.hpp"
#include "model/cost/runtime_costs.hpp"
#include "model/units/embedded.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

using Json = nlohmann::json;

// A value in the file that knows its place, so that every complaint names file and JSON pointer.
class Node {
  public:
    Node(const Json& value, std::string place) : value_(&value), place_(std::move(place)) {}

    bool has(const char* key) const { return value_->is_object() && value_->contains(key); }
    Node at(const char* key) const {
        if (!value_->is_object()) fail("is not an object", "write { ... }");
        if (!value_->contains(key)) fail(fmt::format("\"{}\" is missing", key), "add it");
        return {value_->at(key), place_ + "/" + key};
    }
    std::string text() const {
        if (!value_->is_string()) fail("is not text", "write a quoted value with its unit, e.g. \"3 us\"");
        return value_->get<std::string>();
    }
    double number() const {
        if (!value_->is_number()) fail("is not a number", "write a plain number");
        return value_->get<double>();
    }
    double factor(const char* key) const {
        const Node node = at(key);
        const double value = node.number();
        if (!(value >= 0) || !std::isfinite(value)) node.fail("is negative", "write a number from 0 up");
        return value;
    }
    Seconds seconds(const char* key) const { return parse_seconds(at(key).text(), at(key).place_); }
    Bytes bytes(const char* key) const { return parse_bytes(at(key).text(), at(key).place_); }
    BytesPerSecond bandwidth(const char* key) const {
        return positive(parse_bandwidth(at(key).text(), at(key).place_), key);
    }
    FlopsPerSecond rate(const char* key) const {
        return positive(parse_flops_per_second(at(key).text(), at(key).place_), key);
    }

    template <class Visit>
    void each(Visit visit) const {
        if (!value_->is_object()) fail("is not an object", "write { ... }");
        for (const auto& [key, value] : value_->items()) visit(key, Node(value, place_ + "/" + key));
    }
    template <class Visit>
    void each_element(Visit visit) const {
        if (!value_->is_array()) fail("is not a list", "write [ ... ]");
        for (std::size_t i = 0; i < value_->size(); ++i)
            visit(Node(value_->at(i), fmt::format("{}/{}", place_, i)));
    }
    [[noreturn]] void fail(const std::string& problem, const std::string& remedy) const {
        throw InputError(place_, problem, remedy);
    }

  private:
    template <class Quantity>
    Quantity positive(Quantity value, const char* key) const {
        if (!(value.value() > 0)) at(key).fail("is not above zero", "write a positive rate");
        return value;
    }
    const Json* value_;
    std::string place_;
};

Origin read_origin(const Node& group) {
    const Node node = group.at("origin");
    Origin origin{node.at("source").text(), node.at("date").text(), 0, 0};
    if (node.has("samples")) origin.samples = static_cast<int>(node.factor("samples"));
    if (node.has("residual")) origin.residual = node.factor("residual");
    return origin;
}

GemmCosts read_gemm(const Node& node) {
    GemmCosts costs;
    node.at("rate").each([&](const std::string& name, const Node& value) {
        const auto type = dtype_from(name);
        if (!type) value.fail("is not a number format", "use bf16, fp16, fp32, fp8");
        costs.rate[*type] = node.at("rate").rate(name.c_str());
    });
    if (!costs.rate.contains(DType::bf16) || !costs.rate.contains(DType::fp16) ||
        !costs.rate.contains(DType::fp32))
        node.at("rate").fail("lacks a rate", "give bf16, fp16 and fp32");
    costs.fixed = node.seconds("fixed");
    costs.small_tile_penalty = node.factor("small_tile_penalty");
    costs.prologue = node.factor("prologue");
    return costs;
}

RateCurve read_curve(const Node& node) {
    RateCurve curve;
    node.each_element([&](const Node& point) {
        const double log_flops = point.factor("log2_flops");
        if (!curve.empty() && log_flops <= curve.back().first)
            point.fail("is out of order", "sort by log2_flops");
        curve.emplace_back(log_flops, point.rate("rate"));
    });
    if (curve.empty()) node.fail("is empty", "give at least one point");
    return curve;
}

AttentionCosts read_attention(const Node& node) {
    return {read_curve(node.at("forward")), read_curve(node.at("backward")), node.factor("half_head_factor"),
            node.factor("in_step_factor")};
}

MemoryCosts read_memory(const Node& node) {
    MemoryCosts costs;
    costs.vector_rate = node.bandwidth("vector_rate");
    costs.reduction_rate = node.bandwidth("reduction_rate");
    costs.gather_rate = node.bandwidth("gather_rate");
    costs.broadcast_elements_per_second = node.factor("broadcast_elements_per_second");
    costs.fixed = node.seconds("fixed");
    costs.minimum = node.seconds("minimum");
    costs.gap = node.seconds("gap");
    return costs;
}

OptimizerCosts read_optimizer(const Node& node) {
    return {node.bandwidth("rate"), node.factor("elements_per_second"), node.factor("in_step_factor")};
}

CopyCosts read_copy(const Node& node) {
    return {node.bandwidth("device_to_host"), node.bandwidth("host_to_device"),
            node.bandwidth("device_to_device"), node.seconds("fixed")};
}

RuntimeCosts read_runtime(const Node& node) {
    RuntimeCosts costs;
    costs.kernel = node.seconds("kernel");
    costs.collective = node.seconds("collective");
    costs.copy = node.seconds("copy");
    costs.event = node.seconds("event");
    costs.hook = node.seconds("hook");
    costs.optimizer_loop = node.seconds("optimizer_loop");
    costs.synchronize = node.seconds("synchronize");
    costs.run_ahead = node.factor("run_ahead");
    costs.context_bytes = node.bytes("context");
    const Node communicator = node.at("communicator");
    communicator.each([&](const std::string& transport, const Node&) {
        costs.communicator_bytes[transport] = communicator.bytes(transport.c_str());
    });
    return costs;
}

CostProfile read_profile(const Node& root) {
    if (const std::string schema = root.at("schema").text(); schema != "wirewise.profile/1")
        root.at("schema").fail("is " + schema, "expected \"wirewise.profile/1\"");
    CostProfile profile;
    profile.name = root.at("name").text();
    profile.gpu = root.at("gpu").text();
    profile.measured = true;
    profile.multiprocessors = static_cast<int>(root.factor("multiprocessors"));
    if (profile.multiprocessors < 1)
        root.at("multiprocessors").fail("is not a count", "write the number of SMs");
    profile.gemm = read_gemm(root.at("gemm"));
    profile.attention = read_attention(root.at("attention"));
    profile.memory = read_memory(root.at("memory"));
    profile.optimizer = read_optimizer(root.at("optimizer"));
    const Node power = root.at("power"), contention = root.at("contention");
    profile.power = {power.factor("knee"), power.factor("slope"), power.factor("limit")};
    profile.contention = {contention.factor("vector_share"), contention.factor("start_delay"),
                          contention.factor("side_kernel_rate")};
    profile.copy = read_copy(root.at("copy"));
    profile.runtimes = default_runtimes();
    root.at("runtimes").each([&](const std::string& name, const Node& node) {
        profile.runtimes[name] = read_runtime(node);
        profile.origins["runtimes/" + name] = read_origin(node);
    });
    for (const char* group : {"gemm", "attention", "memory", "optimizer", "power", "contention", "copy"})
        profile.origins[group] = read_origin(root.at(group));
    return profile;
}

CostProfile parse_profile(std::string_view text, const std::string& place) {
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::exception& error) {
        throw InputError(place, std::string("is not valid JSON: ") + error.what(), "mend it there");
    }
    return read_profile(Node(json, place + ":"));
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
