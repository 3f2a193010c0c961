#include "model/program/timeline.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include <nlohmann/json.hpp>

#include "model/program/trace.hpp"
#include "tests/program/tiny_program.hpp"

namespace wirewise {
namespace {

Instant at_us(std::int64_t microseconds) { return Instant(microseconds * 1'000'000); }

// The tiny step's ops 0 linear, 1 weight gradient, 4 reduce, 7 adamw.
//   compute: 0-10 linear, 10-30 weight gradient           60-70 adamw
//   wire:                        20-50 reduce (its first 10 hidden)
Timeline tiny_timeline() {
    const StreamId compute{0}, wire{1};
    return {.spans = {{OpId{0}, compute, at_us(0), at_us(10)},
                      {OpId{1}, compute, at_us(10), at_us(30)},
                      {OpId{4}, wire, at_us(20), at_us(50)},
                      {OpId{7}, compute, at_us(60), at_us(70)}},
            .host_end = at_us(58),
            .end = at_us(80)};
}

void expect_us(Seconds time, double microseconds) { EXPECT_NEAR(time.value() * 1e6, microseconds, 1e-9); }

TEST(Summary, TellsWhereTheTimeWent) {
    const TimelineSummary summary = summarize(testing::tiny_step(), tiny_timeline());
    expect_us(summary.step, 80);
    expect_us(summary.compute, 30);
    expect_us(summary.communication, 30);
    expect_us(summary.exposed_communication, 20);
    expect_us(summary.optimizer, 10);
    expect_us(summary.idle, 20);
    EXPECT_FALSE(summary.host_bound);  // idle for 8 of 80 while the host was issuing: a tenth, not more
}

TEST(Summary, IsHostBoundWhenTheGpuWaitsForTheHost) {
    Timeline timeline = tiny_timeline();
    timeline.host_end = at_us(80);
    EXPECT_TRUE(summarize(testing::tiny_step(), timeline).host_bound);
}

TEST(Summary, OfAnEmptyTimelineIsZero) {
    const TimelineSummary summary = summarize(testing::tiny_step(), Timeline{});
    EXPECT_EQ(summary.idle, Seconds(0));
    EXPECT_FALSE(summary.host_bound);
}

TEST(Trace, IsAChromeTraceWithOneProcessPerSource) {
    StepProgram program = testing::tiny_step();
    program.streams[1].name = "wire \"0\"";
    const Timeline timeline = tiny_timeline();
    const std::vector<Bytes> memory(program.ops.size(), Bytes(77));
    const TraceSource sources[] = {{"rank 0, predicted", &program, &timeline, &memory},
                                   {"rank 0, measured", &program, &timeline}};
    std::ostringstream out;
    write_trace(out, sources);
    const auto trace = nlohmann::json::parse(out.str());
    int processes = 0, spans = 0, counters = 0;
    for (const auto& event : trace.at("traceEvents")) {
        processes += event.at("name") == "process_name";
        counters += event.at("ph") == "C";
        if (event.at("ph") != "X" || event.at("name") == "issue") continue;
        ++spans;
        if (event.at("args").at("op") != 4) continue;
        EXPECT_EQ(event.at("ts"), 20.0);
        EXPECT_EQ(event.at("dur"), 30.0);
        EXPECT_EQ(event.at("tid"), 2);
        EXPECT_EQ(event.at("args").at("bytes"), 4096);
        EXPECT_EQ(event.at("args").at("section"), "backward");
        EXPECT_EQ(event.at("args").at("what"), "all_reduce world bf16 4096 B average");
    }
    EXPECT_EQ(processes, 2);
    EXPECT_EQ(spans, 8);
    EXPECT_EQ(counters, 4);
}

}  // namespace
}  // namespace wirewise
