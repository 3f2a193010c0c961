// Source unless a line says otherwise: NCCL v2.30.7, src/graph/tuning.cc and src/transport/nvls.cc, read
// 2026-11.
#include "model/collectives/tuning.hpp"

#include <algorithm>
#include <cmath>

namespace wirewise {
namespace {

constexpr std::array<std::string_view, 4> kAlgorithms{"Ring", "Tree", "NVLS", "NVLSTree"};
constexpr std::array<std::string_view, 3> kProtocols{"LL", "LL128", "Simple"};

template <class T>
constexpr std::size_t at(T value) {
    return static_cast<std::size_t>(value);
}

constexpr double kBase[2][3] = {{6.6, 14, 8.4}, {6.8, 14, 8.4}};  // ring, tree x LL, LL128, Simple
constexpr HopLatency kHops[2][3] = {{{0.6, 1.0, 2.7}, {1.9, 2.5, 4.0}, {3.4, 5.7, 14}},
                                    {{0.6, 1.0, 5.0}, {1.25, 1.9, 8.5}, {4.0, 4.0, 14}}};
constexpr HopLatency kNvls{25, 0, 18}, kNvlsTree{25, 0, 20.9};

constexpr double G = 1e9;
// LL limits and LL128 per channel: tuning.cc. NVLS efficiency, channels: tuning.cc, nvls.cc; least ranks
// follow from its model (n x the largest ladder step that fits n + 1 times into the port, against the ring).
// From runs, in the middle of them: kernel_start and ramp (published V100, A100 and H100 boxes);
// nvls_small_chunks (published H200, B200 boxes at 128 MiB to 1 GiB); nvls_rack_efficiency (one published
// GB200 NVL72).
constexpr std::array<GenerationLimits, 4> kLimits{{
    {{39 * G, 39 * G, 20.4 * G}, 20 * G, 20e-6, 0},
    {{87.7 * G, 22.5 * G, 19 * G}, 20 * G, 20e-6, 100e-6},
    {{141 * G, 45 * G, 35 * G}, 36.7 * G, 0, 100e-6, 0.85, 0.85, 0.05, 16, 5},
    {{282 * G, 90 * G, 70 * G}, 40 * G, 0, 100e-6, 0.74, 0.63, 0.12, 24, 7},
}};

// By power of two from 64 bytes.
constexpr double kTree[3][23] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}};

}  // namespace

std::string_view name_of(Algorithm algorithm) { return kAlgorithms[at(algorithm)]; }
std::string_view name_of(Protocol protocol) { return kProtocols[at(protocol)]; }

HopLatency hop_latency(Algorithm algorithm, Protocol protocol) {
    if (algorithm == Algorithm::nvls) return kNvls;
    if (algorithm == Algorithm::nvls_tree) return kNvlsTree;
    return kHops[at(algorithm)][at(protocol)];
}

double base_latency(Algorithm algorithm, Protocol protocol) {
    return algorithm > Algorithm::tree ? 0 : kBase[at(algorithm)][at(protocol)];
}

const GenerationLimits& limits_of(double capability) {
    if (capability >= 10) return kLimits[3];
    if (capability >= 9) return kLimits[2];
    return kLimits[capability >= 8 ? 1 : 0];
}

double tree_correction(Protocol protocol, double bytes) {
    const int power = static_cast<int>(std::log2(std::max(bytes, 64.0) / 64));
    return power >= 23 ? 1 : kTree[at(protocol)][power];
}

}  // namespace wirewise
