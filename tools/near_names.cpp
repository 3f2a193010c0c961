#include "tools/near_names.hpp"

#include <algorithm>

namespace wirewise {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& names) {
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const auto& name : names) {
        const std::size_t distance = edit_distance(word, name);
        const bool prefix = word.size() >= 3 && name.starts_with(word);
        if (prefix || distance <= std::max<std::size_t>(1, std::min(word.size(), name.size()) / 3))
            found.emplace_back(prefix ? 0 : distance, name);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> near;
    for (const auto& [distance, name] : found)
        if (near.size() < 3) near.push_back(name);
    return near;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
    const auto near = near_names(word, names);
    if (near.empty()) return "";
    std::string text = "did you mean " + near.front();
    for (std::size_t i = 1; i < near.size(); ++i) text += (i + 1 == near.size() ? " or " : ", ") + near[i];
    return text + "?";
}

}  // namespace wirewise
