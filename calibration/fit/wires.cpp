#include "calibration/fit/wires.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "calibration/fit/median.hpp"
#include "model/units/text.hpp"

namespace wirewise {

namespace {

using Name = std::pair<WireName, CollectiveKind>;
using Points = std::map<Bytes, Seconds>;
using Curves = std::map<Name, Points>;

Curves curves_of(const Json& profile, const std::string& place) {
    Curves curves;
    for (const MeasuredCurve& curve : measured_curves(profile.dump(), place))
        for (const auto& [bytes, seconds] : curve.samples) curves[{curve.wire, curve.kind}][bytes] = seconds;
    return curves;
}

void merge(const std::vector<WireSample>& samples, Curves& curves) {
    std::map<std::pair<Name, Bytes>, std::vector<Seconds>> times;
    for (const WireSample& sample : samples)
        times[{{sample.wire, sample.kind}, sample.bytes}].push_back(sample.seconds);
    for (const auto& [at, measured] : times) curves[at.first][at.second] = median(measured);
}

// By the curve through the points, or through all but those of this size; nothing where none are left.
std::optional<double> predicted(const Name& name, const Points& points, Bytes bytes, bool leave_out) {
    MeasuredCurve curve{name.first, name.second, {}};
    for (const auto& point : points)
        if (!leave_out || point.first != bytes) curve.samples.push_back(point);
    if (curve.samples.empty()) return std::nullopt;
    CollectiveSamples samples;
    samples.add(curve);
    return samples.find(name.first, name.second)->seconds(static_cast<double>(bytes.count()));
}

std::string text_of(const WireName& wire) {
    return wire.path.empty() ? wire.transport : wire.transport + " " + wire.path;
}

WireError error_of(const WireSample& sample, const Points& points) {
    const Name name{sample.wire, sample.kind};
    const double measured = sample.seconds.value(), before = sample.before / sample.seconds - 1;
    const auto unseen = predicted(name, points, sample.bytes, true);
    return {sample.id,
            fmt::format("{} over {}", name_of(sample.kind), text_of(sample.wire)),
            measured,
            before,
            *predicted(name, points, sample.bytes, false) / measured - 1,
            unseen ? *unseen / measured - 1 : before};
}

Json curve_json(const Name& name, const Points& points) {
    Json json{{"transport", name.first.transport}};
    if (!name.first.path.empty()) json["path"] = name.first.path;
    json["op"] = name_of(name.second);
    json["samples"] = Json::array();
    for (const auto& [bytes, seconds] : points)
        json["samples"].push_back({exact_text(bytes), fmt::format("{:.6g} us", seconds.value() * 1e6)});
    return json;
}

// The group of the profile's wires that has these ranks; a new one at the end where there is none.
Json& group_of(Json& wires, const WireName& wire) {
    for (Json& group : wires)
        if (group.at("ranks") == wire.ranks && group.value("in_switch", false) == wire.in_switch)
            return group;
    wires.push_back({{"ranks", wire.ranks}, {"in_switch", wire.in_switch}});
    return wires.back();
}

int touching(const Json& group, const std::vector<WireSample>& samples) {
    return static_cast<int>(std::count_if(samples.begin(), samples.end(), [&](const WireSample& sample) {
        return group.at("ranks") == sample.wire.ranks &&
               group.value("in_switch", false) == sample.wire.in_switch;
    }));
}

void set_origin(Json& group, const std::vector<WireSample>& samples, const std::string& source,
                const std::string& date) {
    const int count = touching(group, samples);
    if (count == 0) return;
    Json& origin = group["origin"];
    const std::string before = origin.is_object() ? origin.value("source", "") : "";
    const std::string now = "measured: " + source;
    if (before.find(now) == std::string::npos)
        origin["source"] = before.empty() ? now : fmt::format("{}; other sizes: {}", now, before);
    origin["date"] = date;
    origin["samples"] = count;
}

}  // namespace

std::vector<MeasuredCurve> measured_wires(const std::vector<WireSample>& samples) {
    Curves curves;
    merge(samples, curves);
    std::vector<MeasuredCurve> measured;
    for (const auto& [name, points] : curves)
        measured.push_back({name.first, name.second, {points.begin(), points.end()}});
    return measured;
}

WireFit fit_wires(const Json& profile, const std::string& place, const std::vector<WireSample>& samples,
                  const std::string& source, const std::string& date) {
    Curves curves = curves_of(profile, place);
    merge(samples, curves);
    WireFit fit{profile.value("wires", Json::array()), {}};
    for (Json& group : fit.wires) group["curves"] = Json::array();
    for (const auto& [name, points] : curves)
        group_of(fit.wires, name.first)["curves"].push_back(curve_json(name, points));
    for (Json& group : fit.wires) set_origin(group, samples, source, date);
    for (const WireSample& sample : samples)
        fit.errors.push_back(error_of(sample, curves.at({sample.wire, sample.kind})));
    return fit;
}

}  // namespace wirewise
