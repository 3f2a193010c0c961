#include "model/topology/fabric.hpp"

#include <fmt/format.h>

#include "model/topology/json_view.hpp"
#include "model/topology/topologies.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

constexpr const char* kFile = "topologies/fabrics.json";

double number(const JsonView& view, double least, double most) {
    if (!view.value().is_number()) view.refuse("not a number");
    const double value = view.value().get<double>();
    if (!(value >= least && value <= most)) view.refuse(fmt::format("not between {} and {}", least, most));
    return value;
}

FabricKind kind_of(const JsonView& view) {
    const std::string name = view.text();
    if (name == "rail_optimised") return FabricKind::rail_optimised;
    if (name == "fat_tree") return FabricKind::fat_tree;
    view.refuse("not a kind of fabric", "write rail_optimised or fat_tree");
}

Fabric read_row(const JsonView& row) {
    row.expect_keys({"name", "kind", "efficiency", "latency", "oversubscription", "servers_per_leaf",
                     "sockets", "ll128", "nics_per_gpu", "nic_rate", "source"});
    Fabric fabric;
    fabric.name = row.at("name").text();
    fabric.kind = kind_of(row.at("kind"));
    fabric.efficiency = number(row.at("efficiency"), 0.01, 1);
    fabric.latency = parse_seconds(row.at("latency").text(), row.at("latency").place());
    if (const auto view = row.find("oversubscription")) fabric.oversubscription = number(*view, 1, 1000);
    if (const auto view = row.find("servers_per_leaf")) fabric.servers_per_leaf = view->integer(1, 100000);
    if (const auto view = row.find("sockets")) fabric.sockets = view->boolean();
    if (const auto view = row.find("ll128")) fabric.ll128 = view->boolean();
    if (const auto view = row.find("nics_per_gpu")) fabric.nics_per_gpu = number(*view, 0.01, 16);
    if (const auto view = row.find("nic_rate")) fabric.nic_rate = view->bandwidth();
    fabric.source = row.at("source").text();
    return fabric;
}

std::vector<Fabric> read_catalogue() {
    const Json json = parse_topology_json(topology_file("fabrics.json"), kFile);
    std::vector<Fabric> fabrics;
    for (const JsonView& row : JsonView(json, kFile).at("fabrics").items()) fabrics.push_back(read_row(row));
    return fabrics;
}

}  // namespace

const std::vector<Fabric>& all_fabrics() {
    static const std::vector<Fabric> fabrics = read_catalogue();
    return fabrics;
}

const Fabric& fabric_named(std::string_view name) {
    std::string names;
    for (const Fabric& fabric : all_fabrics()) {
        if (fabric.name == name) return fabric;
        names += (names.empty() ? "" : ", ") + fabric.name;
    }
    throw InputError("--fabric", fmt::format("there is no fabric '{}'", name), "write one of " + names);
}

}  // namespace wirewise
