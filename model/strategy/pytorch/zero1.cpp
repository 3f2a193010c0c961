#include "model/strategy/pytorch/zero1.hpp"

#include <algorithm>
#include <numeric>

namespace wirewise {

std::vector<std::vector<WeightId>> zero1_shares(const WeightTable& weights, int ranks) {
    std::vector<std::size_t> by_size(weights.size());
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::ranges::stable_sort(by_size, std::greater<>(),
                             [&](std::size_t i) { return weights.all()[i].count(); });
    std::vector<std::vector<WeightId>> shares(static_cast<std::size_t>(ranks));
    std::vector<std::int64_t> sizes(shares.size());
    for (const std::size_t i : by_size) {
        const auto rank = static_cast<std::size_t>(std::ranges::min_element(sizes) - sizes.begin());
        shares[rank].push_back(static_cast<WeightId>(i));
        sizes[rank] += weights.all()[i].count();
    }
    return shares;
}

std::size_t fullest_share(const WeightTable& weights, const std::vector<std::vector<WeightId>>& shares) {
    const auto size = [&](const std::vector<WeightId>& share) {
        std::int64_t sum = 0;
        for (const WeightId id : share) sum += weights.at(id).count();
        return sum;
    };
    return static_cast<std::size_t>(std::ranges::max_element(shares, {}, size) - shares.begin());
}

}  // namespace wirewise
