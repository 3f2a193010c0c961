// Predictions against samples measured on an H200: a gate on the error of each kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <vector>

#include "model/cost/kernel_time.hpp"
#include "tests/cost/h200_samples.hpp"
#include "tests/cost/profiles.hpp"

namespace wirewise {
namespace {

struct Errors {
    double mean = 0, median = 0, worst = 0;
};

Errors errors_of(std::vector<double> relative) {
    for (double& x : relative) x = std::fabs(x);
    std::sort(relative.begin(), relative.end());
    double sum = 0;
    for (const double x : relative) sum += x;
    return {sum / static_cast<double>(relative.size()), relative[relative.size() / 2], relative.back()};
}

void report(const char* what, const Errors& e) {
    std::cout << what << ": mean " << 100 * e.mean << " %, median " << 100 * e.median << " %, worst "
              << 100 * e.worst << " %\n";
}

double predicted(const samples::GemmSample& s, const CostProfile& profile) {
    return 1e6 * gemm_time({.m = s.m, .n = s.n, .k = s.k}, profile).value();
}

// The samples heat the GPU: each run of one token count has a clock of its own, taken out by the run's median
// ratio.
TEST(KernelSamples, GemmShapes) {
    const CostProfile profile = h200();
    std::map<std::int64_t, std::vector<double>> ratios;
    for (const auto& s : samples::kGemms) ratios[s.tokens].push_back(s.microseconds / predicted(s, profile));
    std::vector<double> errors;
    for (auto& [tokens, run] : ratios) {
        std::sort(run.begin(), run.end());
        const double clock = run[run.size() / 2];
        EXPECT_GT(clock, 0.95) << tokens << " tokens: faster than the unthrottled rate";
        EXPECT_LT(clock, profile.power.limit + 0.07)
            << tokens << " tokens: slower than the power limit allows";
        for (const double ratio : run) errors.push_back(clock / ratio - 1);
    }
    const Errors e = errors_of(errors);
    report("GEMM, shape", e);
    EXPECT_LT(e.mean, 0.036);
    EXPECT_LT(e.median, 0.026);
    EXPECT_LT(e.worst, 0.18);
}

// A row of large products draws all the power there is.
TEST(KernelSamples, GemmInAnEndlessLoop) {
    const CostProfile profile = h200();
    std::vector<double> errors;
    for (const auto& s : samples::kGemms)
        if (s.tokens >= 8192)
            errors.push_back(predicted(s, profile) * power_factor(1, profile.power) / s.microseconds - 1);
    const Errors e = errors_of(errors);
    report("GEMM, power-limited, 8,192 tokens and more", e);
    EXPECT_LT(e.mean, 0.05);
    EXPECT_LT(e.worst, 0.17);
}

TEST(KernelSamples, Attention) {
    const CostProfile profile = h200();
    std::vector<double> forward, backward;
    for (const auto& s : samples::kAttentions) {
        if (s.sequence < 2048) continue;  // timed the host
        Attention a{false, s.batch, s.sequence, s.heads, s.kv_heads, s.head_dim, s.head_dim};
        if (s.head_dim == 128)
            forward.push_back(attention_time(a, profile).value() * 1e6 / s.forward_microseconds - 1);
        a.backward = true;
        if (s.head_dim == 128)
            backward.push_back(attention_time(a, profile).value() * 1e6 / s.backward_microseconds - 1);
    }
    report("attention forward", errors_of(forward));
    report("attention backward", errors_of(backward));
    EXPECT_LT(errors_of(forward).mean, 0.04);
    EXPECT_LT(errors_of(forward).worst, 0.10);
    EXPECT_LT(errors_of(backward).mean, 0.04);
    EXPECT_LT(errors_of(backward).worst, 0.10);
}

TEST(KernelSamples, CopiesAndUpdates) {
    const CostProfile profile = h200();
    const auto copy = [&](Bytes bytes) {
        return 1e6 *
               pointwise_time({.access = AccessClass::vector, .traffic = 2 * bytes}, profile.memory).value();
    };
    EXPECT_NEAR(copy(128_MiB), 66.7, 0.06 * 66.7);
    EXPECT_NEAR(copy(2_GiB), 1013.3, 0.07 * 1013.3);
    const std::int64_t n = std::int64_t{1} << 28;
    const auto update = [&](std::int64_t bytes_per_parameter) {
        return 1e6 * update_time({.count = n, .traffic = Bytes(n * bytes_per_parameter)}, profile.optimizer)
                         .value();
    };
    EXPECT_NEAR(update(14), 1396.9, 0.01 * 1396.9);  // bf16: reads 4 tensors, writes 3
    EXPECT_NEAR(update(28), 2170.5, 0.01 * 2170.5);  // fp32
}

}  // namespace
}  // namespace wirewise
