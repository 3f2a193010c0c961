// The curve through measured samples, and how well it predicts a size that was left out.
#include "model/collectives/samples.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "model/collectives/pricer.hpp"
#include "model/topology/built_in.hpp"

namespace wirewise::test {
namespace {

constexpr const char* kProfile = WIREWISE_SOURCE_FOLDER "/calibration/profiles/h200-sxm.json";

struct Sample {
    std::string transport, path;
    CollectiveKind op;
    Bytes bytes;
    Seconds seconds;
};

std::string profile_text() {
    std::ifstream in(kProfile);
    return {std::istreambuf_iterator<char>(in), {}};
}

CollectiveSamples all_samples() {
    CollectiveSamples samples;
    add_collective_samples(samples, profile_text(), kProfile);
    return samples;
}

std::vector<Sample> profile_samples() {
    std::vector<Sample> samples;
    for (const MeasuredCurve& curve : measured_curves(profile_text(), kProfile))
        for (const auto& [bytes, seconds] : curve.samples)
            samples.push_back({curve.wire.transport, curve.wire.path, curve.kind, bytes, seconds});
    return samples;
}

CollectiveSamples without(const std::vector<Sample>& all, Bytes left_out) {
    std::map<std::pair<WireName, CollectiveKind>, std::vector<std::pair<Bytes, Seconds>>> curves;
    for (const Sample& sample : all)
        if (sample.bytes != left_out)
            curves[{{"h200-sxm", sample.transport, sample.path, 2, false}, sample.op}].emplace_back(
                sample.bytes, sample.seconds);
    CollectiveSamples samples;
    for (auto& [name, points] : curves) samples.add({name.first, name.second, std::move(points)});
    return samples;
}

NcclEnvironment environment_of(const std::string& transport) {
    NcclEnvironment environment;
    environment.nvls = false;
    environment.p2p_disable = transport != "p2p";
    environment.shm_disable = transport == "net";
    return environment;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

TEST(CollectiveCurve, IsAFloorThenALine) {
    std::vector<std::pair<Bytes, Seconds>> samples{
        {1_KiB, Seconds(40e-6)}, {4_KiB, Seconds(20e-6)}, {16_KiB, Seconds(20e-6)}};
    for (const Bytes bytes : {1_MiB, 4_MiB, 16_MiB})
        samples.emplace_back(bytes, Seconds(10e-6 + static_cast<double>(bytes.count()) / 10e9));
    const CollectiveCurve curve(samples, {});
    EXPECT_DOUBLE_EQ(curve.seconds(2048), 20e-6);
    EXPECT_NEAR(curve.seconds(2e6), 210e-6, 1e-9);
    EXPECT_NEAR(curve.seconds(1e9), 100010e-6, 1e-7);
}

TEST(CollectiveCurve, GoesThroughTheSamplesThatTheWiresDecide) {
    const std::vector<std::pair<Bytes, Seconds>> samples{{1_KiB, Seconds(20e-6)},
                                                         {1_MiB, Seconds(90e-6)},
                                                         {16_MiB, Seconds(1500e-6)},
                                                         {64_MiB, Seconds(5000e-6)}};
    const CollectiveCurve curve(samples, {131072, 0, 1});
    for (const auto& [bytes, seconds] : samples)
        EXPECT_NEAR(curve.seconds(static_cast<double>(bytes.count())) / seconds.value(), 1, 1e-9);
}

TEST(CollectiveCurve, NeverFallsBetweenRisingSamples) {
    const CollectiveCurve curve(
        {{1_MiB, Seconds(900e-6)}, {16_MiB, Seconds(1000e-6)}, {64_MiB, Seconds(5000e-6)}}, {});
    for (double bytes = 1 << 20; bytes < 64 << 20; bytes *= 1.1) {
        EXPECT_GE(curve.seconds(bytes), 900e-6);
        EXPECT_LE(curve.seconds(bytes), 5000e-6);
    }
}

TEST(CollectiveSamples, AreReadBackAtTheirOwnSizes) {
    const CollectiveSamples samples = all_samples();
    const CollectivePricer pricer(*built_in_machine("h200-x2"), environment_of("p2p"), {{0, 1}}, &samples);
    const CollectivePrice price = pricer.price(CollectiveKind::all_reduce, 1_GiB);
    EXPECT_TRUE(price.measured);
    EXPECT_NEAR(price.seconds.value(), 3271.315e-6, 1e-9);
}

TEST(CollectiveSamples, DoNotSpeakForOtherWires) {
    const CollectiveSamples samples = all_samples();
    const auto measured = [&](const char* machine, const NcclEnvironment& environment,
                              std::vector<int> gpus) {
        return CollectivePricer(*built_in_machine(machine), environment, {std::move(gpus)}, &samples)
            .price(CollectiveKind::all_reduce, 1_GiB)
            .measured;
    };
    EXPECT_TRUE(measured("hgx-h200-8", environment_of("p2p"), {3, 6}));
    EXPECT_FALSE(measured("hgx-h200-8", environment_of("p2p"), {0, 1, 2}));
    EXPECT_FALSE(measured("hgx-h100-8", environment_of("p2p"), {0, 1}));
    EXPECT_FALSE(measured("h200-nvl-8", environment_of("p2p"), {0, 1}));
    NcclEnvironment pinned = environment_of("p2p");
    pinned.set("NCCL_PROTO=Simple", "test");
    EXPECT_FALSE(measured("h200-x2", pinned, {0, 1}));
}

// The strictest reading: a size is left out of all curves at once, so that nothing measured at it is seen.
TEST(CollectiveSamples, LeaveOneSizeOut) {
    const std::vector<Sample> all = profile_samples();
    const Machine machine = *built_in_machine("h200-x2");
    std::map<std::string, std::vector<double>> large, small;
    for (const Sample& sample : all) {
        const CollectiveSamples samples = without(all, sample.bytes);
        const CollectivePricer pricer(machine, environment_of(sample.transport), {{0, 1}}, &samples);
        const CollectivePrice price = pricer.price(sample.op, sample.bytes);
        ASSERT_TRUE(price.measured);
        auto& errors = sample.bytes >= 1_MiB ? large : small;
        for (const std::string& wire : {sample.transport, std::string("all")})
            errors[wire].push_back(std::abs(price.seconds / sample.seconds - 1));
    }
    for (const auto& [wire, errors] : large) {
        fmt::print("leave one size out, {:4}: from 1 MiB {:4.1f} % ({}), below {:4.1f} % ({})\n", wire,
                   100 * median(errors), errors.size(), 100 * median(small[wire]), small[wire].size());
        EXPECT_LE(median(errors), 0.04) << wire;
        EXPECT_LE(median(small[wire]), 0.06) << wire;
    }
}

}  // namespace
}  // namespace wirewise::test
