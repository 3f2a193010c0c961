#include "model/program/byte_ranges.hpp"

#include <algorithm>

namespace wirewise {

bool ByteSet::add(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return false;
    const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                                        [](const auto& range, std::int64_t at) { return range.second < at; });
    auto last = first;
    bool met = false;
    for (; last != ranges_.end() && last->first <= end; ++last) {
        met |= last->first < end && last->second > begin;
        begin = std::min(begin, last->first);
        end = std::max(end, last->second);
    }
    ranges_.insert(ranges_.erase(first, last), {begin, end});
    return met;
}

bool ByteSet::covers(std::int64_t begin, std::int64_t end) const {
    if (begin >= end) return true;
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [&](const auto& range) { return range.first <= begin && end <= range.second; });
}

std::size_t AccessHistory::cut(std::int64_t at) {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), at,
                         [](std::int64_t place, const Range& range) { return place < range.begin; });
    const auto index = static_cast<std::size_t>(after - ranges_.begin());
    if (index == 0 || ranges_[index - 1].begin == at) return index == 0 ? 0 : index - 1;
    if (ranges_[index - 1].end == at) return index;
    Range rest = ranges_[index - 1];
    rest.begin = at;
    ranges_[index - 1].end = at;
    ranges_.insert(after, std::move(rest));
    return index;
}

std::span<AccessHistory::Range> AccessHistory::within(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return {};
    cut(end);
    const std::size_t first = cut(begin);
    std::size_t last = first;
    while (last < ranges_.size() && ranges_[last].begin < end) ++last;
    return std::span(ranges_).subspan(first, last - first);
}

void AccessHistory::overwrite(std::int64_t begin, std::int64_t end, std::uint32_t writer) {
    const std::span<Range> old = within(begin, end);
    if (old.empty()) return;
    old.front().end = end;
    old.front().writer = writer;
    old.front().written = true;
    old.front().readers.clear();
    const auto first = ranges_.begin() + (old.data() - ranges_.data());
    ranges_.erase(first + 1, first + static_cast<std::ptrdiff_t>(old.size()));
}

void Occupancy::leave(std::uint32_t region, std::int64_t begin, std::int64_t end, std::uint32_t buffer) {
    if (begin < end) left_.insert_or_assign({region, begin}, Left{end, buffer});
}

}  // namespace wirewise
