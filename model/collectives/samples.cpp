#include "model/collectives/samples.hpp"

#include <algorithm>

#include "model/units/error.hpp"

namespace wirewise {

CollectiveCurve::CollectiveCurve(std::vector<std::pair<Bytes, Seconds>> samples) {
    ensure(!samples.empty(), "a curve has samples");
    std::sort(samples.begin(), samples.end());
    for (const auto& [bytes, seconds] : samples)
        points_.push_back({static_cast<double>(bytes.count()), seconds.value()});
    for (std::size_t i = points_.size() - 1; i-- > 0;)
        points_[i].seconds = std::min(points_[i].seconds, points_[i + 1].seconds);
}

CollectiveCurve::Segment CollectiveCurve::around(double bytes) const {
    if (bytes <= points_.front().bytes || points_.size() == 1) return {points_.front(), points_.front()};
    auto above = std::lower_bound(points_.begin(), points_.end(), Point{bytes, 0});
    if (above == points_.end()) --above;
    return {*std::prev(above), *above};
}

double straight(const CollectiveCurve::Segment& segment, double bytes) {
    const auto& [below, above] = segment;
    if (above.bytes <= below.bytes) return below.seconds;
    return below.seconds +
           (bytes - below.bytes) * (above.seconds - below.seconds) / (above.bytes - below.bytes);
}

double shaped(const CollectiveCurve::Segment& segment, double below, double at, double above) {
    if (above <= below) return segment.above.seconds;
    return segment.below.seconds +
           (at - below) * (segment.above.seconds - segment.below.seconds) / (above - below);
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
