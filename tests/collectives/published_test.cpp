// Predictions from wiring alone against what people measured and published.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/collectives/error_table.hpp"

namespace wirewise::test {
namespace {

std::filesystem::path shared_folder() {
    if (const char* named = std::getenv("WIREWISE_SHARED")) return named;
    return std::filesystem::path(WIREWISE_SOURCE_FOLDER) / ".." / "shared";
}

struct Published {
    std::vector<Judged> judged;
    std::vector<PublishedCollective> set_aside;
};

Published judge_file(const std::filesystem::path& file) {
    Published result;
    for (const PublishedCollective& run : read_published_collectives(file.string()))
        if (run.set_aside.empty())
            result.judged.push_back(judge(run));
        else
            result.set_aside.push_back(run);
    return result;
}

TEST(Published, SharedRows) {
    const std::filesystem::path folder = shared_folder() / "published";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
    Published all = judge_file(folder / "busbw_by_topology.jsonl");
    Published more = judge_file(folder / "collectives.jsonl");
    all.judged.insert(all.judged.end(), more.judged.begin(), more.judged.end());
    all.set_aside.insert(all.set_aside.end(), more.set_aside.begin(), more.set_aside.end());
    for (const Judged& one : all.judged)
        if (std::getenv("WIREWISE_ROWS") != nullptr)
            fmt::print("{:24} {:28.28} n={:3} {:14} {:>12} {:8.2f} {:8.2f} {:+6.1f}% {} | {}\n", one.run.id,
                       one.run.machine.substr(one.run.machine.rfind('/') + 1),
                       one.run.gpus.size() * one.run.nodes, name_of(one.run.op), one.run.bytes.count(),
                       one.predicted / 1e9, one.run.busbw.value() / 1e9, 100 * one.error(), one.algorithm,
                       one.bottleneck);
    for (const PublishedCollective& run : all.set_aside)
        fmt::print("set aside {}: {}\n", run.id, run.set_aside);
    fmt::print("{}", table(all.judged));
    EXPECT_GT(all.judged.size(), 200u);
}

}  // namespace
}  // namespace wirewise::test
