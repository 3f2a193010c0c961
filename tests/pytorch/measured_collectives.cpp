#include "tests/pytorch/measured_collectives.hpp"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "model/units/text.hpp"

namespace wirewise {

MeasuredCollectives::MeasuredCollectives(const std::string& wire)
    : transport_(wire == "nvlink"        ? "p2p"
                 : wire == "host_memory" ? "shm"
                                         : "net") {
    const std::string file = WIREWISE_SOURCE_FOLDER "/calibration/profiles/h200-sxm.json";
    std::ifstream stream(file);
    const auto profile = nlohmann::json::parse(stream);
    for (const auto& measured : profile.at("wires").at(0).at("curves")) {
        const auto kind = collective_from(measured.at("op").get<std::string>());
        if (measured.at("transport") != transport_ || !kind) continue;
        auto& curve = samples_[*kind];
        for (const auto& sample : measured.at("samples"))
            curve.push_back({static_cast<double>(parse_bytes(sample.at(0).get<std::string>(), file).count()),
                             1e6 * parse_seconds(sample.at(1).get<std::string>(), file).value()});
        for (std::size_t i = curve.size() - 1; i-- > 0;)  // small sizes are noisy, only upwards
            curve[i].microseconds = std::min(curve[i].microseconds, curve[i + 1].microseconds);
    }
}

// Straight lines between samples, the last slope beyond.
CollectivePrice MeasuredCollectives::operator()(Axis, CollectiveKind kind, Bytes bytes) const {
    // Broadcasts were not measured on the slow wires, where cost follows the bytes a rank handles, as a
    // gather's does.
    const auto found = samples_.find(kind);
    const auto& curve = found != samples_.end() ? found->second : samples_.at(CollectiveKind::all_gather);
    const double x = std::max(static_cast<double>(bytes.count()), curve.front().bytes);
    std::size_t i = 1;
    while (i + 1 < curve.size() && x > curve[i].bytes) ++i;
    const Sample &a = curve[i - 1], &b = curve[i];
    CollectivePrice price{};
    price.seconds = Seconds(
        1e-6 * (a.microseconds + (x - a.bytes) / (b.bytes - a.bytes) * (b.microseconds - a.microseconds)));
    price.transport = transport_;
    price.channels = transport_ == "p2p" ? 24 : transport_ == "shm" ? 4 : 2;
    return price;
}

}  // namespace wirewise
