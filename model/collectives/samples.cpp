#include "model/collectives/samples.hpp"

#include <algorithm>

#include "model/units/error.hpp"

namespace wirewise {

CollectiveCurve::CollectiveCurve(std::vector<std::pair<Bytes, Seconds>> samples) {
    ensure(!samples.empty(), "a curve has samples");
    std::sort(samples.begin(), samples.end());
    for (const auto& [bytes, seconds] : samples)
        points_.emplace_back(static_cast<double>(bytes.count()), seconds.value());
    for (std::size_t i = points_.size() - 1; i-- > 0;)
        points_[i].second = std::min(points_[i].second, points_[i + 1].second);
}

Seconds CollectiveCurve::seconds(Bytes bytes) const {
    const auto size = static_cast<double>(bytes.count());
    if (size <= points_.front().first || points_.size() == 1) return Seconds(points_.front().second);
    auto above = std::lower_bound(points_.begin(), points_.end(), std::pair{size, 0.0});
    if (above == points_.end()) --above;
    const auto below = std::prev(above);
    const double slope = (above->second - below->second) / (above->first - below->first);
    return Seconds(below->second + (size - below->first) * slope);
}

void CollectiveSamples::add(const WireName& wire, CollectiveKind kind,
                            std::vector<std::pair<Bytes, Seconds>> samples) {
    curves_.insert_or_assign({wire, kind}, CollectiveCurve(std::move(samples)));
}

const CollectiveCurve* CollectiveSamples::find(const WireName& wire, CollectiveKind kind) const {
    const auto found = curves_.find({wire, kind});
    return found == curves_.end() ? nullptr : &found->second;
}

}  // namespace wirewise
