// The whole timeline of a two-layer sharded step, as text: a change of the simulation shows here line by
// line. WIREWISE_UPDATE_GOLDEN=1 writes the file anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/simulator/setting.hpp"
#include "tests/simulator/sharded_step.hpp"

namespace wirewise {
namespace {

std::string text_of(const StepProgram& program, const Timeline& timeline) {
    std::string text;
    for (const Span& span : timeline.spans)
        text += fmt::format("{:>14} {:>14}  {:<8} {}\n", span.begin.count(), span.end.count(),
                            program.streams[index_of(span.stream)].name,
                            to_text(program.ops[index_of(span.op)].name));
    return text + fmt::format("end {} host {}\n", timeline.end.count(), timeline.host_end.count());
}

TEST(GoldenTimeline, ShardedStepOfTwoLayers) {
    CostProfile profile = round_profile();
    profile.gemm.rate[DType::bf16] = FlopsPerSecond(500e12);
    profile.memory.vector_rate = profile.optimizer.rate = 4000_GBps;
    profile.contention = {0.5, 2, 0.4};
    profile.power = {0.25, 0.25, 1.125};
    RuntimeCosts runtime{};
    runtime.kernel = runtime.collective = 5_us;
    runtime.event = 1_us;
    runtime.run_ahead = 100;
    const StepProgram program = ShardedStep({2, 4, 6, 2048, 2048}).write();
    const std::string text = text_of(program, simulate(program, profile, byte_costs(25), runtime));
    const std::string file = WIREWISE_FIXTURES "/sharded_step_timeline.txt";
    if (std::getenv("WIREWISE_UPDATE_GOLDEN")) std::ofstream(file) << text;
    std::ostringstream golden;
    golden << std::ifstream(file).rdbuf();
    EXPECT_EQ(text, golden.str());
}

}  // namespace
}  // namespace wirewise
