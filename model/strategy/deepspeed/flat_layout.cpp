#include "model/strategy/deepspeed/flat_layout.hpp"

#include <algorithm>

namespace wirewise {

FlatLayout::FlatLayout(const WeightTable& weights, int ranks) : ranks_(ranks) {
    std::int64_t offset = 0;
    for (const Weight& weight : weights.all()) {
        places_.push_back({offset, offset + weight.count()});
        offset += weight.count();
    }
    const std::int64_t unit = 2 * static_cast<std::int64_t>(ranks);
    padded_ = (offset + unit - 1) / unit * unit;
    for (int rank = 0; rank < ranks; ++rank)
        if (const std::int64_t count = reaching_into(rank); count > own_weights_count_) {
            own_weights_count_ = count;
            own_ = rank;
        }
}

std::int64_t FlatLayout::reaching_into(int rank) const {
    const std::int64_t begin = partition() * rank, end = begin + partition();
    std::int64_t sum = 0;
    for (const Range& place : places_)
        if (place.begin < end && place.end > begin) sum += place.count();
    return sum;
}

FlatLayout::Range FlatLayout::own_part(WeightId weight) const {
    const Range place = of(weight);
    const std::int64_t begin = partition() * own_;
    return {std::clamp(place.begin, begin, begin + partition()),
            std::clamp(place.end, begin, begin + partition())};
}

int FlatLayout::partitions_touched(const std::vector<WeightId>& weights) const {
    int touched = 0;
    std::int64_t last = -1;
    for (const WeightId weight : weights) {
        const Range place = of(weight);
        for (std::int64_t p = place.begin / partition(); p <= (place.end - 1) / partition(); ++p)
            if (p != last) last = p, ++touched;
    }
    return touched;
}

}  // namespace wirewise
