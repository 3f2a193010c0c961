// The collectives' names and nccl-tests' vocabulary, shared by every floor.
// Source of the factors: NVIDIA/nccl-tests doc/PERFORMANCE.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/units/quantity.hpp"

namespace wirewise {

enum class CollectiveKind : std::uint8_t { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_recv };

constexpr std::array<std::string_view, 6> kCollectiveNames{"all_reduce", "all_gather", "reduce_scatter",
                                                           "broadcast",  "all_to_all", "send_recv"};

constexpr std::string_view name_of(CollectiveKind kind) { return kCollectiveNames[static_cast<std::size_t>(kind)]; }

constexpr std::optional<CollectiveKind> collective_from(std::string_view name) {
    for (std::size_t i = 0; i < kCollectiveNames.size(); ++i)
        if (kCollectiveNames[i] == name) return static_cast<CollectiveKind>(i);
    return std::nullopt;
}

// busbw / algbw for `ranks` ranks, where algbw = S / time and S is the full buffer in bytes (all-gather and
// reduce-scatter: the total over ranks).
constexpr double busbw_factor(CollectiveKind kind, int ranks) {
    if (ranks < 2) return 1;
    const double n = ranks;
    switch (kind) {
        case CollectiveKind::all_reduce: return 2 * (n - 1) / n;
        case CollectiveKind::all_gather:
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::all_to_all: return (n - 1) / n;
        case CollectiveKind::broadcast:
        case CollectiveKind::send_recv: return 1;
    }
    return 1;
}

}  // namespace wirewise
