// Collectives, launches and fixed memory measured on a machine, as numbers of its profile.
#include <gtest/gtest.h>

#include "calibration/fit/calibrate.hpp"
#include "calibration/fit/observe.hpp"
#include "model/collectives/pricer.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/cost/profile_json.hpp"
#include "model/topology/built_in.hpp"

namespace wirewise {
namespace {

const WireName kNvlink{"h200-sxm", "p2p", "NV18", 2, false};

Json sheet() {
    CostProfile profile = profile_from_data_sheet(gpu_model("h200-sxm"));
    profile.name = "h200-sxm";
    return to_json(profile);
}

// 20 us and 300 GB/s.
Seconds on_a_line(Bytes bytes) { return 20_us + bytes / BytesPerSecond(300e9); }

WireSample sample(Bytes bytes, Seconds seconds) {
    return {"sample", kNvlink, CollectiveKind::all_gather, bytes, seconds, 2 * seconds};
}

CalibrationSamples samples_of(std::vector<WireSample> wires) {
    CalibrationSamples samples;
    samples.wires = std::move(wires);
    samples.source = "a test", samples.date = "2026-11-30";
    return samples;
}

Seconds priced(const Json& profile, Bytes bytes) {
    CollectiveSamples samples;
    add_collective_samples(samples, profile.dump(), "test");
    const CollectivePricer pricer(*built_in_machine("h200-x2"), {}, {{0, 1}}, &samples);
    const CollectivePrice price = pricer.price(CollectiveKind::all_gather, bytes);
    EXPECT_TRUE(price.measured);
    return price.seconds;
}

TEST(Wires, MeasuredCollectivesArePricedFromTheProfile) {
    std::vector<WireSample> wires;
    for (const Bytes bytes : {1_MiB, 16_MiB, 64_MiB, 1_GiB}) wires.push_back(sample(bytes, on_a_line(bytes)));
    const Calibration found = calibrate(sheet(), "sheet", samples_of(wires));
    EXPECT_NEAR(priced(found.profile, 16_MiB) / on_a_line(16_MiB), 1, 1e-4);
    EXPECT_NEAR(priced(found.profile, 256_MiB) / on_a_line(256_MiB), 1, 0.05);
    EXPECT_EQ(found.profile["wires"][0]["origin"]["samples"], 4);
    EXPECT_EQ(found.profile["wires"][0]["origin"]["date"], "2026-11-30");
}

TEST(Wires, HeldOutErrorsAreOfSizesThatTheCurveHasNotSeen) {
    const Calibration found =
        calibrate(sheet(), "sheet",
                  samples_of({sample(16_MiB, on_a_line(16_MiB)), sample(64_MiB, 1.5 * on_a_line(64_MiB)),
                              sample(1_GiB, on_a_line(1_GiB))}));
    ASSERT_EQ(found.after.size(), 1U);
    EXPECT_EQ(found.after.front().kind, "all_gather over p2p NV18");
    EXPECT_NEAR(found.before.front().mean, 1, 1e-9);
    EXPECT_GT(found.after.front().worst, 0.25);
    EXPECT_LT(found.fitted.front().worst, 1e-9);
}

TEST(Wires, NewSizesAreAddedAndSeenOnesReplaced) {
    const Json first =
        calibrate(sheet(), "sheet",
                  samples_of({sample(16_MiB, on_a_line(16_MiB)), sample(1_GiB, on_a_line(1_GiB))}))
            .profile;
    const Json second =
        calibrate(first, "first", samples_of({sample(16_MiB, 2 * on_a_line(16_MiB))})).profile;
    EXPECT_NEAR(priced(second, 16_MiB) / on_a_line(16_MiB), 2, 1e-4);
    EXPECT_NEAR(priced(second, 1_GiB) / on_a_line(1_GiB), 1, 1e-4);
}

TEST(Wires, OfSeveralSamplesOfOneSizeTheMedianCounts) {
    std::vector<WireSample> wires;
    for (const double factor : {1.0, 1.0, 9.0}) wires.push_back(sample(64_MiB, factor * on_a_line(64_MiB)));
    const Calibration found = calibrate(sheet(), "sheet", samples_of(wires));
    EXPECT_NEAR(priced(found.profile, 64_MiB) / on_a_line(64_MiB), 1, 1e-4);
}

// 20 % of a product, half of a collective and its wait for two products' halves, seen in 2 shapes.
TEST(Contention, IsTakenFromLoopsBesideEachOther) {
    CostProfile truth = profile_from_data_sheet(gpu_model("h200-sxm"));
    truth.contention.wires["shm"] = {0.2, 1.5, 0.1};
    CalibrationSamples samples = samples_of({});
    samples.contending = {{"shm", 4}};
    for (const std::int64_t m : {4096, 16384})
        for (const Seconds collective : {2000_us, 20000_us}) {
            ContentionToObserve pair{"pair", "shm", 4, {.m = m, .n = 4096, .k = 4096}, collective, 0, 0};
            const auto seen = observe_contention(pair);
            pair.matrix_slowdown = seen[0].predict(truth) - 1;
            pair.collective_slowdown = seen[1].predict(truth) - 1;
            for (Observation& one : observe_contention(pair)) samples.times.push_back(std::move(one));
        }
    const Calibration found = calibrate(sheet(), "sheet", samples);
    const WireContention wire = profile_from_json(found.profile, "new").contention.wires.find("shm")->second;
    EXPECT_NEAR(wire.slowdown, 0.2, 0.02);
    EXPECT_NEAR(wire.start_delay, 1.5, 0.3);
    EXPECT_NEAR(wire.collective_slowdown, 0.1, 0.04);
}

TEST(Processes, LaunchAndFixedMemoryAreTakenAsMeasured) {
    CalibrationSamples samples = samples_of({});
    samples.processes = {{"native", 3_us, {}}, {"native", {}, 500_MiB}, {"unknown", 9_us, {}}};
    const Calibration found = calibrate(sheet(), "sheet", samples);
    const CostProfile profile = profile_from_json(found.profile, "new");
    EXPECT_DOUBLE_EQ(profile.runtime("native").kernel.value(), 3e-6);
    EXPECT_EQ(profile.runtime("native").context_bytes, 500_MiB);
    EXPECT_EQ(profile.terms.at("/runtimes/native/kernel").source, "measured: a test");
    EXPECT_EQ(found.terms.size(), 2U);
}

TEST(Processes, WhatIsHeldStays) {
    CalibrationSamples samples = samples_of({sample(16_MiB, on_a_line(16_MiB))});
    samples.processes = {{"native", 3_us, {}}, {"native", {}, 500_MiB}};
    samples.held = {"/runtimes/native/kernel", "/wires"};
    const Json sheet_json = sheet();
    const Calibration found = calibrate(sheet_json, "sheet", samples);
    const Json& native = found.profile["runtimes"]["native"];
    EXPECT_EQ(native["kernel"], sheet_json["runtimes"]["native"]["kernel"]);
    EXPECT_NE(native["context"], sheet_json["runtimes"]["native"]["context"]);
    EXPECT_FALSE(found.profile.contains("wires"));
}

// Every kind of our own has a fixed time and a rate; both follow its samples, and no framework's rate does.
TEST(OwnKernels, TheirCostsAreFittedToTheirSamples) {
    CostProfile truth = profile_from_data_sheet(gpu_model("h200-sxm"));
    truth.memory.kernels["norm_backward"].rate = 1.5 * truth.memory.kernels["norm_backward"].rate;
    CalibrationSamples samples = samples_of({});
    for (const Bytes traffic : {50_MiB, 100_MiB, 400_MiB, 1_GiB}) {
        const Pointwise kernel{.kind = PointwiseKind::norm_backward,
                               .access = AccessClass::reduction,
                               .rows = 4096,
                               .columns = 4096,
                               .traffic = traffic};
        MeasuredCase one;
        one.place = "test:1";
        one.subject = KernelCase{.machine = "h200-x2", .kernel = kernel};
        one.readings = {{MeasuredQuantity::kernel_seconds, kernel_time(kernel, truth).value()}};
        samples.times.push_back(*observe_kernel(one));
    }
    const Json sheet_json = sheet();
    const Calibration found = calibrate(sheet_json, "sheet", samples);
    const CostProfile fitted = profile_from_json(found.profile, "new");
    const auto rate = [](const CostProfile& of) { return of.memory.kernels.at("norm_backward").rate; };
    EXPECT_NEAR(rate(fitted) / rate(truth), 1, 0.03);
    EXPECT_EQ(found.profile["memory"]["reduction_rate"], sheet_json["memory"]["reduction_rate"]);
}

}  // namespace
}  // namespace wirewise
