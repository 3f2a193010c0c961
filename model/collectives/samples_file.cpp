#include "model/collectives/samples.hpp"
#include "model/topology/json_view.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

MeasuredCurve read_curve(const JsonView& view, const WireName& wire) {
    view.expect_keys({"transport", "path", "op", "samples"});
    MeasuredCurve curve{wire, {}, {}};
    curve.wire.transport = view.at("transport").text();
    if (const auto path = view.find("path")) curve.wire.path = path->text();
    const auto kind = collective_from(view.at("op").text());
    if (!kind)
        view.at("op").refuse("not a collective",
                             "write all_reduce, all_gather, reduce_scatter, broadcast, ...");
    curve.kind = *kind;
    for (const JsonView& point : view.at("samples").items()) {
        const std::vector<JsonView> pair = point.items();
        if (pair.size() != 2)
            point.refuse("a sample is a size and a time", "write [\"16 MiB\", \"75.2 us\"]");
        const Bytes bytes = pair[0].bytes();
        const Seconds seconds = parse_seconds(pair[1].text(), pair[1].place());
        if (bytes < 1_B || !(seconds > Seconds(0)))
            point.refuse("is not above zero", "write what was measured");
        curve.samples.emplace_back(bytes, seconds);
    }
    if (curve.samples.empty()) view.at("samples").refuse("empty", "give at least one sample");
    return curve;
}

void read_wires(const JsonView& view, WireName wire, std::vector<MeasuredCurve>& curves) {
    view.expect_keys({"ranks", "in_switch", "origin", "curves"});
    wire.ranks = view.at("ranks").integer(2, 1 << 20);
    if (const auto flag = view.find("in_switch")) wire.in_switch = flag->boolean();
    for (const JsonView& curve : view.at("curves").items()) curves.push_back(read_curve(curve, wire));
}

}  // namespace

std::vector<MeasuredCurve> measured_curves(std::string_view profile_text, const std::string& place) {
    const Json json = parse_topology_json(profile_text, place);
    const JsonView root(json, place);
    std::vector<MeasuredCurve> curves;
    if (const auto wires = root.find("wires"))
        for (const JsonView& one : wires->items()) read_wires(one, {.gpu = root.at("gpu").text()}, curves);
    return curves;
}

void add_collective_samples(CollectiveSamples& samples, std::string_view profile_text,
                            const std::string& place) {
    for (MeasuredCurve& curve : measured_curves(profile_text, place)) samples.add(std::move(curve));
}

}  // namespace wirewise
