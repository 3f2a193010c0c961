// Lower, simulate, compare: every measured step of the two-H200 machine, with collectives as measured there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "model/program/timeline.hpp"
#include "model/strategy/lower.hpp"
#include "model/transformer/read_config.hpp"
#include "tests/cost/profiles.hpp"
#include "tests/step_time/measured_collectives.hpp"
#include "tests/step_time/measured_steps.hpp"

namespace wirewise {
namespace {

std::string shared_folder() {
    const char* folder = std::getenv("WIREWISE_SHARED");
    return folder ? folder : WIREWISE_SOURCE_FOLDER "/../shared";
}

struct Comparison {
    const MeasuredStep* step;
    double relative = 0;
    bool host_bound = false;
};

class StepTime : public testing::Test {
  protected:
    void SetUp() override {
        const std::string measured = shared_folder() + "/measured/";
        if (!std::filesystem::exists(measured)) GTEST_SKIP() << "no " << measured;
        for (const char* wire : {"nvlink", "host_memory", "tcp_socket"})
            wires_[wire] = MeasuredCollectives(measured + "collectives_h200x2.jsonl", wire);
        steps_ = measured_steps(measured + "training_steps_h200x2.jsonl");
        for (const MeasuredStep& step : steps_) comparisons_.push_back(compare(step));
    }

    Comparison compare(const MeasuredStep& step) const {
        const Transformer model =
            load_model(shared_folder() + "/model_configs/" + step.model_file, step.overrides);
        const StepProgram program = lower(model, step.plan, Phase::steady_step);
        const RuntimeCosts& runtime = profile_.runtime(name_of(step.plan.runtime));
        const Timeline timeline = simulate(program, profile_, wires_.at(step.wire), runtime);
        const double predicted = to_seconds(timeline.end).value();
        const bool host_bound = summarize(program, timeline).host_bound;
        fmt::print("{:58} {:8.1f} ms, measured {:8.1f} ms {:+6.1f} % {}\n", step.id, 1e3 * predicted,
                   1e3 * step.seconds, 100 * (predicted / step.seconds - 1), host_bound ? "host-bound" : "");
        return {&step, predicted / step.seconds - 1, host_bound};
    }

    struct Errors {
        int count = 0;
        double mean = 0, worst = 0;
    };
    Errors errors_on(std::string_view wire) const {
        Errors errors;
        for (const Comparison& c : comparisons_) {
            if (c.step->wire != wire || c.host_bound) continue;
            ++errors.count;
            errors.mean += std::fabs(c.relative);
            errors.worst = std::max(errors.worst, std::fabs(c.relative));
        }
        errors.mean /= std::max(errors.count, 1);
        fmt::print("{}: {} GPU-bound steps, mean {:.2f} %, worst {:.1f} %\n", wire, errors.count,
                   100 * errors.mean, 100 * errors.worst);
        return errors;
    }

    CostProfile profile_ = h200();
    std::map<std::string, CollectiveCost, std::less<>> wires_;
    std::vector<MeasuredStep> steps_;
    std::vector<Comparison> comparisons_;
};

// The gates are the figures reached, rounded up: a change that makes them worse must say so here.
TEST_F(StepTime, GpuBoundStepsOverNvlink) {
    const Errors e = errors_on("nvlink");
    EXPECT_GE(e.count, 21);
    EXPECT_LT(e.mean, 0.016);
    EXPECT_LT(e.worst, 0.045);
}

TEST_F(StepTime, StepsThroughHostMemory) {
    const Errors e = errors_on("host_memory");
    EXPECT_EQ(e.count, 4);
    EXPECT_LT(e.mean, 0.02);
    EXPECT_LT(e.worst, 0.035);
}

// All of it is extrapolated: buckets are larger than the largest sample over TCP.
TEST_F(StepTime, StepsOverTcp) { EXPECT_LT(errors_on("tcp_socket").worst, 0.06); }

TEST_F(StepTime, HostBoundStepsAreFlagged) {
    for (const Comparison& c : comparisons_)
        EXPECT_TRUE(c.host_bound || std::fabs(c.relative) < 0.1) << c.step->id;
}

}  // namespace
}  // namespace wirewise
