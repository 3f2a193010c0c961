#include "model/units/near.hpp"

#include <algorithm>
#include <numeric>

namespace wirewise {

// One row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
        }
    }
    return row.back();
}

std::vector<std::string> near_names(std::string_view wanted, std::vector<std::string> names,
                                    std::size_t most) {
    const std::string_view key = wanted.substr(0, 100);  // the rest of a hostile name does not help
    const auto distance = [&](const std::string& name) {
        const bool inside = !key.empty() && name.find(key) != std::string::npos;
        return inside ? std::size_t{0} : 1 + edit_distance(key, name);
    };
    std::stable_sort(names.begin(), names.end(),
                     [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    if (names.size() > most) names.resize(most);
    return names;
}

}  // namespace wirewise
