// The gate: no quantity may become worse than its recorded figures. They stand in recorded.json; a run that
// finds better ones writes them into recorded.json of the temporary folder (TEST_TMPDIR, else /tmp), to be
// committed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "tests/validate/committed.hpp"

namespace wirewise::test {
namespace {

using Json = nlohmann::ordered_json;

// What rounding and a change elsewhere may add.
constexpr double kMedianSlack = 0.002, kWorstSlack = 0.01, kShare = 0.05;

// Gated: each quantity as a whole, by source, and by profile.
bool gated(const SummaryLine& line) {
    return line.group == "all" || line.group.starts_with("source: ") || line.group.starts_with("profile: ");
}

std::string key_of(const SummaryLine& line) {
    return fmt::format("{}, {}", name_of(line.quantity), line.group);
}

Json recorded() {
    std::ifstream file(WIREWISE_SOURCE_FOLDER "/tests/validate/recorded.json");
    return Json::parse(file);
}

std::vector<SummaryLine> gated_lines() {
    std::vector<SummaryLine> lines;
    for (const SummaryLine& line : summarize_errors(committed_validation().comparisons))
        if (gated(line)) lines.push_back(line);
    return lines;
}

TEST(Gate, NoErrorGrew) {
    const Json figures = recorded().at("figures");
    Json now = {{"about", recorded().at("about")}, {"figures", Json::object()}};
    for (const SummaryLine& line : gated_lines()) {
        const std::string key = key_of(line);
        now["figures"][key] = {{"n", line.n}, {"median_abs", line.median_abs}, {"max_abs", line.max_abs}};
        if (!figures.contains(key)) continue;  // a new quantity or source: record it
        const double median = figures.at(key).at("median_abs"), worst = figures.at(key).at("max_abs");
        EXPECT_LE(line.median_abs, median * (1 + kShare) + kMedianSlack) << key;
        EXPECT_LE(line.max_abs, worst * (1 + kShare) + kWorstSlack) << key;
        EXPECT_GE(line.n, figures.at(key).at("n").get<std::size_t>()) << key << ": cases were lost";
    }
    std::ofstream(::testing::TempDir() + "recorded.json") << now.dump(1) << "\n";
}

TEST(Gate, EveryRecordedFigureIsStillThere) {
    std::map<std::string, bool> found;
    for (const SummaryLine& line : gated_lines()) found[key_of(line)] = true;
    for (const auto& [key, figure] : recorded().at("figures").items()) EXPECT_TRUE(found[key]) << key;
}

// 90 % intervals hold 80 to 97 % of what they promise to hold, kernels too, and are as narrow as asked.
TEST(Gate, IntervalsHoldAndAreNarrow) {
    std::map<std::string, SummaryLine> lines;
    for (const SummaryLine& line : summarize_errors(committed_validation().comparisons))
        lines[key_of(line)] = line;
    for (const char* key :
         {"step_seconds, all", "step_seconds, bound by: GPU", "step_seconds, bound by: host",
          "step_seconds, profile: data sheet", "step_seconds, profile: h200-sxm", "kernel_seconds, all"}) {
        EXPECT_GE(lines.at(key).interval_coverage(), 0.8) << key;
        EXPECT_LE(lines.at(key).interval_coverage(), 0.97) << key;
    }
    EXPECT_GE(lines.at("step_seconds, wire: tcp_socket").interval_coverage(), 0.8);
    EXPECT_LE(lines.at("step_seconds, profile: h200-sxm").half_width, 0.1);
    EXPECT_LE(lines.at("step_seconds, profile: data sheet").half_width, 0.3);
}

TEST(Gate, CoversEveryQuantityAndEnoughCases) {
    std::map<MeasuredQuantity, std::size_t> counts;
    std::size_t published = 0;
    for (const Comparison& one : committed_validation().comparisons) {
        ++counts[one.quantity];
        published += one.quantity == MeasuredQuantity::step_seconds && one.labels.source != "measured";
    }
    EXPECT_EQ(counts.size(), 8u);
    EXPECT_GE(published, 60u);
    EXPECT_GE(counts[MeasuredQuantity::peak_allocated_bytes], 90u);
}

}  // namespace
}  // namespace wirewise::test
