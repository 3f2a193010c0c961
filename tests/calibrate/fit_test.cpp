// Profiles fitted to samples made from a known one: the numbers come back, outliers are named, what was known
// before counts, and what got worse is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "calibration/fit/calibrate.hpp"
#include "calibration/fit/widths.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/cost/profile_json.hpp"

namespace wirewise {
namespace {

CostProfile data_sheet() { return profile_from_data_sheet(gpu_model("h200-sxm")); }

// A product, timed on a GPU that `truth` describes, `error` off.
Observation product(std::int64_t m, std::int64_t n, const CostProfile& truth, double error = 0) {
    const Gemm gemm{.m = m, .n = n, .k = 4096};
    return {fmt::format("{}x{}", m, n),
            "gemm",
            gemm_time(gemm, truth).value() * (1 + error),
            [gemm](const CostProfile& profile) { return gemm_time(gemm, profile).value(); },
            {fmt::format("{} rows", m)},
            ""};
}

CalibrationSamples products(const CostProfile& truth) {
    CalibrationSamples samples;
    samples.source = "a test", samples.date = "2026-11-30";
    for (const std::int64_t m : {512, 1024, 2048, 4096, 8192})
        for (const std::int64_t n : {1024, 4096, 14336, 28672}) samples.times.push_back(product(m, n, truth));
    return samples;
}

double value_of(const Json& document, const char* pointer) {
    return std::stod(document.at(Json::json_pointer(pointer)).get<std::string>());
}

CostProfile slower() {
    CostProfile truth = data_sheet();
    truth.gemm.rate[DType::bf16] = FlopsPerSecond(700e12);
    truth.gemm.fixed = 12_us;
    return truth;
}

TEST(Calibrate, FindsTheNumbersThatMadeTheSamples) {
    const Calibration found = calibrate(to_json(data_sheet()), "sheet", products(slower()));
    EXPECT_NEAR(value_of(found.profile, "/gemm/rate/bf16"), 700, 0.02 * 700);
    EXPECT_NEAR(value_of(found.profile, "/gemm/fixed"), 12, 0.1 * 12);
    EXPECT_TRUE(found.refused.empty()) << found.refused;
    EXPECT_TRUE(found.outliers.empty());
    ASSERT_EQ(found.before.size(), 1U);
    EXPECT_GT(found.before.front().mean, 0.15);
    EXPECT_LT(found.after.front().mean, 0.01);
    EXPECT_EQ(profile_from_json(found.profile, "new").terms.at("/gemm/rate/bf16").samples, 20);
}

TEST(Calibrate, KeepsRatesOfFormatsThatAreAlike) {
    const Calibration found = calibrate(to_json(data_sheet()), "sheet", products(slower()));
    EXPECT_EQ(found.profile["gemm"]["rate"]["fp16"], found.profile["gemm"]["rate"]["bf16"]);
}

TEST(Calibrate, NamesOutliersAndIsNotMovedByThem) {
    CalibrationSamples samples = products(slower());
    samples.times[3].seconds *= 2;
    samples.times[12].seconds *= 0.5;
    const Calibration found = calibrate(to_json(data_sheet()), "sheet", samples);
    ASSERT_EQ(found.outliers.size(), 2U);
    EXPECT_EQ(found.outliers[0].id, samples.times[12].id);
    EXPECT_EQ(found.outliers[1].id, samples.times[3].id);
    EXPECT_NEAR(value_of(found.profile, "/gemm/rate/bf16"), 700, 0.03 * 700);
}

// What many samples have said is not forgotten for one that says otherwise.
TEST(Calibrate, MergesWithoutForgetting) {
    const Json first = calibrate(to_json(data_sheet()), "sheet", products(slower())).profile;
    CalibrationSamples one;
    one.source = "one more", one.date = "2026-12-01";
    one.times = {product(4096, 4096, slower(), 0.1)};
    const Calibration second = calibrate(first, "first", one);
    EXPECT_NEAR(value_of(second.profile, "/gemm/rate/bf16"), 700, 0.03 * 700);
    const Calibration fresh = calibrate(to_json(data_sheet()), "sheet", one);
    EXPECT_LT(value_of(fresh.profile, "/gemm/rate/bf16"), 690);
}

// Samples in which nothing repeats from one group to the next teach nothing about the groups to come.
TEST(Calibrate, RefusesWhatIsWorseOnUnseenGroups) {
    CalibrationSamples samples = products(data_sheet());
    for (Observation& sample : samples.times)
        sample.seconds *= sample.groups.front() < "2" ? 0.7 : sample.groups.front() < "5" ? 1.2 : 0.9;
    const Calibration found = calibrate(to_json(data_sheet()), "sheet", samples);
    EXPECT_NE(found.refused.find("held-out kernels"), std::string::npos) << found.refused;
}

TEST(Calibrate, EveryNumberStaysPositive) {
    CalibrationSamples samples = products(data_sheet());
    for (Observation& sample : samples.times) sample.seconds *= 1e-4;
    const Calibration found = calibrate(to_json(data_sheet()), "sheet", samples);
    for (const FittedTerm& term : found.terms) EXPECT_GT(term.value, 0) << term.term.pointer;
}

TEST(Calibrate, NothingToFitChangesNothing) {
    const Json sheet = to_json(data_sheet());
    const Calibration found = calibrate(sheet, "sheet", {.source = "nothing", .date = "2026-11-30"});
    EXPECT_EQ(found.profile["gemm"], sheet["gemm"]);
    EXPECT_TRUE(found.refused.empty());
}

TEST(Profile, IsTheSameWhenReadBack) {
    const Json json = to_json(profile_for(gpu_model("h200-sxm")));
    EXPECT_EQ(to_json(profile_from_json(json, "again")), json);
}

TEST(Widths, CoverNineOfTenAndOneMore) {
    std::vector<double> errors;
    for (int i = 1; i <= 99; ++i) errors.push_back((i % 2 ? 1 : -1) * i * 0.001);
    EXPECT_DOUBLE_EQ(width_covering(errors), 0.090);
    EXPECT_DOUBLE_EQ(width_covering({0.01, -0.03, 0.02}), 0.03);
    EXPECT_EQ(width_covering({}), 0);
}

}  // namespace
}  // namespace wirewise
