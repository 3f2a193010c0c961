#include <fstream>
#include <sstream>

#include "model/collectives/samples.hpp"
#include "model/topology/json_view.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

std::string read_file(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw InputError(file, "cannot be read", "give a file of measured collectives");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void read_curve(const JsonView& view, WireName wire, CollectiveSamples& samples) {
    view.expect_keys({"transport", "path", "op", "samples"});
    wire.transport = view.at("transport").text();
    if (const auto path = view.find("path")) wire.path = path->text();
    const auto kind = collective_from(view.at("op").text());
    if (!kind)
        view.at("op").refuse("not a collective",
                             "write all_reduce, all_gather, reduce_scatter, broadcast, ...");
    std::vector<std::pair<Bytes, Seconds>> points;
    for (const JsonView& point : view.at("samples").items()) {
        const std::vector<JsonView> pair = point.items();
        if (pair.size() != 2)
            point.refuse("a sample is a size and a time", "write [\"16 MiB\", \"75.2 us\"]");
        points.emplace_back(pair[0].bytes(), parse_seconds(pair[1].text(), pair[1].place()));
    }
    if (points.empty()) view.at("samples").refuse("empty", "give at least one sample");
    samples.add(wire, *kind, std::move(points));
}

}  // namespace

void add_collective_samples(CollectiveSamples& samples, std::string_view text, const std::string& place) {
    const Json json = parse_topology_json(text, place);
    const JsonView root(json, place);
    root.expect_keys({"schema", "gpu", "ranks", "in_switch", "origin", "curves"});
    if (root.at("schema").text() != "wirewise.collectives/1")
        root.at("schema").refuse("not a file of measured collectives", "write \"wirewise.collectives/1\"");
    WireName wire;
    wire.gpu = root.at("gpu").text();
    wire.ranks = root.at("ranks").integer(2, 1 << 20);
    if (const auto view = root.find("in_switch")) wire.in_switch = view->boolean();
    for (const JsonView& curve : root.at("curves").items()) read_curve(curve, wire, samples);
}

CollectiveSamples load_collective_samples(const std::string& file) {
    CollectiveSamples samples;
    add_collective_samples(samples, read_file(file), file);
    return samples;
}

}  // namespace wirewise
