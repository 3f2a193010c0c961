// Lower, simulate, compare: every measured step of the two-H200 machine, with collectives as measured there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

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

struct Result {
    double relative = 0;
    bool host_bound = false;
};

Result compare(const MeasuredStep& step, const CostProfile& profile, const CollectiveCost& wires,
               Runtime runtime) {
    const Transformer model =
        load_model(shared_folder() + "/model_configs/" + step.model_file, step.overrides);
    ParallelPlan plan = step.plan;
    plan.runtime = runtime;
    const StepProgram program = lower(model, plan, Phase::steady_step);
    const Timeline timeline = simulate(program, profile, wires, profile.runtime(name_of(plan.runtime)));
    const double seconds = to_seconds(timeline.end).value();
    fmt::print("{:60} ops {:6} predicted {:8.1f} measured {:8.1f} ms  {:+6.1f} %\n", step.id,
               program.ops.size(), 1e3 * seconds, 1e3 * step.seconds, 100 * (seconds / step.seconds - 1));
    return {seconds / step.seconds - 1, false};
}

TEST(StepTime, MeasuredSteps) {
    const std::string measured = shared_folder() + "/measured/";
    if (!std::filesystem::exists(measured)) GTEST_SKIP() << "no " << measured;
    const CostProfile profile = h200();
    std::map<std::string, CollectiveCost> wires;
    for (const char* wire : {"nvlink", "host_memory", "tcp_socket"})
        wires[wire] = MeasuredCollectives(measured + "collectives_h200x2.jsonl", wire);
    const char* only = std::getenv("ONLY");
    const char* runtime = std::getenv("RUNTIME");
    for (const MeasuredStep& step : measured_steps(measured + "training_steps_h200x2.jsonl")) {
        if (only && step.id.find(only) == std::string::npos) continue;
        try {
            compare(step, profile, wires.at(step.wire), runtime ? *runtime_from(runtime) : step.plan.runtime);
        } catch (const InputError& error) {
            fmt::print("{:60} {}\n", step.id, error.what());
        }
    }
}

}  // namespace
}  // namespace wirewise
