// Ranges of bytes and what has happened to them: the bookkeeping of verify().
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/program/program.hpp"

namespace wirewise {

// A set of byte ranges; neighbours are joined.
class ByteSet {
  public:
    // Adds [begin, end); true when part of it was there already.
    bool add(std::int64_t begin, std::int64_t end);
    bool covers(std::int64_t begin, std::int64_t end) const;

  private:
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  // sorted, disjoint, apart
};

// Who last wrote and read each byte of one buffer.
class AccessHistory {
  public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;  // nobody
    struct Range {
        std::int64_t begin = 0, end = 0;
        std::uint32_t writer = kNone;        // the op that wrote last
        bool written = false;                // by an op, or before the program
        std::vector<std::uint32_t> readers;  // since then: the last on each stream that read
    };
    AccessHistory() = default;
    AccessHistory(std::int64_t bytes, bool written) : ranges_{{0, bytes, kNone, written, {}}} {}

    // The ranges that tile [begin, end), cut at its edges.
    std::span<Range> within(std::int64_t begin, std::int64_t end);
    // All of [begin, end) is now written by `writer` and read by nobody since.
    void overwrite(std::int64_t begin, std::int64_t end, std::uint32_t writer);

  private:
    std::size_t cut(std::int64_t at);  // index of the range that begins at `at`
    std::vector<Range> ranges_;        // sorted, tile the buffer
};

// Which dead buffer lay where last.
class Occupancy {
  public:
    void leave(std::uint32_t region, std::int64_t begin, std::int64_t end, std::uint32_t buffer);
    // Takes [begin, end) and hands `met` every buffer that lay in part of it.
    template <class Met>
    void take(std::uint32_t region, std::int64_t begin, std::int64_t end, Met&& met);

  private:
    struct Left {
        std::int64_t end = 0;
        std::uint32_t buffer = 0;
    };
    using Key = std::pair<std::uint32_t, std::int64_t>;  // region, begin
    std::map<Key, Left> left_;
};

template <class Met>
void Occupancy::take(std::uint32_t region, std::int64_t begin, std::int64_t end, Met&& met) {
    auto at = left_.lower_bound({region, begin});
    if (at != left_.begin()) {
        const auto before = std::prev(at);
        if (before->first.first == region && before->second.end > begin) at = before;
    }
    while (at != left_.end() && at->first.first == region && at->first.second < end) {
        const auto [key, left] = *at;
        met(left.buffer);
        at = left_.erase(at);
        if (key.second < begin) left_.insert({key, {begin, left.buffer}});
        if (left.end > end) left_.insert({{region, end}, left});
    }
}

}  // namespace wirewise
