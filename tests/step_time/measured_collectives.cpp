#include "tests/step_time/measured_collectives.hpp"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

namespace wirewise {

MeasuredCollectives::MeasuredCollectives(const std::string& file, const std::string& wire) : wire_(wire) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const auto row = nlohmann::json::parse(line);
        if (row.at("wire") != wire) continue;
        const auto kind = collective_from(row.at("op").get<std::string>());
        if (kind) samples_[*kind].push_back({row.at("bytes").get<double>(), row.at("us").get<double>()});
    }
    for (auto& [kind, curve] : samples_) {
        std::sort(curve.begin(), curve.end(),
                  [](const Sample& a, const Sample& b) { return a.bytes < b.bytes; });
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
    price.transport = wire_;
    price.channels = wire_ == "nvlink" ? 24 : wire_ == "host_memory" ? 4 : 2;
    return price;
}

}  // namespace wirewise
