// Lower, simulate, compare: the measured steps of the two-H200 machine, with collectives as measured there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/program/timeline.hpp"
#include "model/strategy/lower.hpp"
#include "tests/cost/profiles.hpp"
#include "tests/pytorch/measured.hpp"
#include "tests/pytorch/measured_collectives.hpp"

namespace wirewise {
namespace {

struct Comparison {
    std::string id, wire;
    double error = 0;
    bool host_bound = false;
};

Comparison compare(const MeasuredStep& step, const CostProfile& profile) {
    const StepProgram program = lower(step.model, step.plan, Phase::steady_step);
    const Timeline timeline = simulate(program, profile, MeasuredCollectives(step.wire),
                                       profile.runtime(name_of(step.plan.runtime)));
    const double error = to_seconds(timeline.end) / step.time - 1;
    return {step.id, step.wire, error, summarize(program, timeline).host_bound};
}

const std::vector<Comparison>& comparisons() {
    static const std::vector<Comparison> all = [] {
        std::vector<Comparison> result;
        const CostProfile profile = h200();
        for (const auto& steps : {measured_steps(), sampled_steps("h200-x2")})
            for (const MeasuredStep& step : steps) result.push_back(compare(step, profile));
        return result;
    }();
    return all;
}

struct Errors {
    int count = 0;
    double mean = 0, worst = 0;
};

Errors errors_on(std::string_view wire, bool host_bound) {
    Errors errors;
    for (const Comparison& c : comparisons()) {
        if (c.wire != wire || c.host_bound != host_bound) continue;
        ++errors.count;
        errors.mean += std::fabs(c.error);
        errors.worst = std::max(errors.worst, std::fabs(c.error));
        fmt::print("{:58} {:+6.1f} %\n", c.id, 100 * c.error);
    }
    errors.mean /= std::max(errors.count, 1);
    fmt::print("{}{}: {} steps, mean {:.2f} %, worst {:.1f} %\n", wire, host_bound ? ", host-bound" : "",
               errors.count, 100 * errors.mean, 100 * errors.worst);
    return errors;
}

// The gates are the figures reached, rounded up: a change that makes them worse must say so here.
TEST(StepTime, GpuBoundOverNvlink) {
    const Errors e = errors_on("nvlink", false);
    EXPECT_GE(e.count, 55);
    EXPECT_LT(e.mean, 0.012);
    EXPECT_LT(e.worst, 0.04);
}

TEST(StepTime, ThroughHostMemory) {
    const Errors e = errors_on("host_memory", false);
    EXPECT_GE(e.count, 11);
    EXPECT_LT(e.mean, 0.015);
    EXPECT_LT(e.worst, 0.05);
}

// All of it is extrapolated: buckets are larger than the largest sample over TCP.
TEST(StepTime, OverTcp) {
    const Errors e = errors_on("tcp_socket", false);
    EXPECT_LT(e.mean, 0.09);
    EXPECT_LT(e.worst, 0.175);
}

// Steps of one such run spread by 20 % themselves.
TEST(StepTime, HostBound) {
    const Errors e = errors_on("nvlink", true);
    EXPECT_GE(e.count, 20);
    EXPECT_LT(e.mean, 0.08);
    EXPECT_LT(e.worst, 0.20);
}

// On one GPU: uneven groups, the grouped kernel, and the backward of indexing rows to their experts.
// DeepSeek's host is near its limit.
TEST(StepTime, RoutedExperts) {
    int count = 0;
    for (const MeasuredStep& step : sampled_steps("h200-x1")) {
        const bool routed =
            std::ranges::any_of(step.model.kinds, [](const auto& layer) { return layer.mlp.routed(); });
        if (!routed) continue;
        const Comparison c = compare(step, h200());
        EXPECT_LE(std::fabs(c.error), step.id.find("deepseek") == std::string::npos ? 0.05 : 0.10) << c.id;
        ++count;
    }
    EXPECT_EQ(count, 3);
}

// Sequences of 256 and 512 tokens are; batches of four or eight long ones over NVLink are not.
TEST(StepTime, TheHostIsBlamedWhereItIsToBlame) {
    const auto says = [](const std::string& id, std::initializer_list<std::string_view> any) {
        return std::ranges::any_of(any, [&](std::string_view s) { return id.find(s) != std::string::npos; });
    };
    for (const Comparison& c : comparisons()) {
        if (says(c.id, {"-s256-", "-s512-"})) {
            EXPECT_TRUE(c.host_bound) << c.id;
        }
        if (c.wire == "nvlink" && says(c.id, {"-s2048-b4-", "-s2048-b8-", "-s4096-b4-"})) {
            EXPECT_FALSE(c.host_bound) << c.id;
        }
    }
}

}  // namespace
}  // namespace wirewise
