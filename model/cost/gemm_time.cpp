// GEMM: tiles in waves over the SMs. cuBLAS picks the tile shape that ends first, and so do we.
#include <algorithm>
#include <array>

#include "model/cost/kernel_time.hpp"

namespace wirewise {
namespace {

struct Tile {
    std::int64_t m, n;
};
// Shapes that cuBLAS ships for half-precision inputs; 128x256 is the most efficient one.
constexpr std::array<Tile, 6> kTiles{{{128, 256}, {256, 128}, {128, 128}, {64, 128}, {128, 64}, {64, 64}}};

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Operands are read once per tile row and column: small tiles read more per flop.
double relative_cost(Tile tile, const GemmCosts& costs) {
    constexpr double kEdge = 128, kBest = kEdge / 128 + kEdge / 256;
    const double reads = kEdge / static_cast<double>(tile.m) + kEdge / static_cast<double>(tile.n);
    return 1 + costs.small_tile_penalty * (reads - kBest);
}

// One of the equal products of a grouped call.
Gemm one_group(Gemm gemm) {
    std::int64_t& tokens = gemm.layout == GemmLayout::weight_gradient ? gemm.k : gemm.m;
    tokens = divide_up(tokens, std::max<std::int64_t>(gemm.groups, 1));
    return gemm;
}

// CUTLASS's grouped kernel against cuBLAS's choice for one product, the uneven groups below paid for.
// Published: torch._grouped_mm on H100, 16 groups of 272 to 1,040 rows, 5120 x 8192 and 8192 x 5120: 1.31
// and 1.26 ms where the tiles alone take 1.19 and 1.15 (pytorch/ao pull request 2490, July 2025).
constexpr double kGroupedKernel = 1.1;

// Rows of tiles of all groups. Tokens do not come in whole tiles to each group: half of one is lost.
std::int64_t tile_rows(const Gemm& gemm, Tile tile) {
    const bool uneven = gemm.groups > 1 && gemm.layout != GemmLayout::weight_gradient;
    if (!uneven) return gemm.groups * divide_up(gemm.m, tile.m);
    return divide_up(gemm.groups * (2 * gemm.m + tile.m), 2 * tile.m);
}

// Tiles of all groups share the SMs.
Flops scheduled_flops(const Gemm& whole, Tile tile, const CostProfile& profile) {
    const Gemm gemm = one_group(whole);
    const std::int64_t tiles = tile_rows(gemm, tile) * divide_up(gemm.n, tile.n);
    const std::int64_t slots = divide_up(tiles, profile.multiprocessors) * profile.multiprocessors;
    const double per_tile =
        2.0 * static_cast<double>(tile.m * tile.n) * (static_cast<double>(gemm.k) + profile.gemm.prologue);
    return Flops(static_cast<double>(slots) * per_tile * relative_cost(tile, profile.gemm));
}

// An accumulated or added result is read as well; both sides of it move while no tile computes.
Seconds result_traffic(const Gemm& whole, const CostProfile& profile) {
    const Gemm gemm = one_group(whole);
    const std::int64_t reads = (gemm.accumulate ? 1 : 0) + (gemm.addend ? 1 : 0);
    return reads * gemm.groups * bytes_of(gemm.m * gemm.n, gemm.result) / profile.memory.vector_rate;
}

// Skinny products are bound by reading their operands once: of a grouped call, every group's weight.
Seconds operand_traffic(const Gemm& whole, const CostProfile& profile) {
    const Gemm gemm = one_group(whole);
    const Bytes operands = bytes_of(gemm.m * gemm.k, gemm.type) + bytes_of(gemm.k * gemm.n, gemm.type);
    return gemm.groups * (operands + bytes_of(gemm.m * gemm.n, gemm.result)) / profile.memory.vector_rate;
}

FlopsPerSecond rate_of(DType type, const CostProfile& profile) {
    const auto found = profile.gemm.rate.find(type);
    ensure(found != profile.gemm.rate.end(), "the profile has a GEMM rate for every compute dtype");
    return found->second;
}

}  // namespace

Seconds gemm_time(const Gemm& gemm, const CostProfile& profile) {
    if (gemm.m == 0 || gemm.n == 0 || gemm.k == 0) return Seconds(0);
    Flops least = scheduled_flops(gemm, kTiles[0], profile);
    for (const Tile tile : kTiles) least = std::min(least, scheduled_flops(gemm, tile, profile));
    const Seconds busy = (gemm.groups > 1 ? kGroupedKernel : 1) * (least / rate_of(gemm.type, profile));
    return profile.gemm.fixed + std::max(busy, operand_traffic(gemm, profile)) +
           result_traffic(gemm, profile);
}

}  // namespace wirewise
