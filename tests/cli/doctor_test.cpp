// `doctor`: whatever this machine has, the answer is whole; half a launcher's environment is a problem.
#include <gtest/gtest.h>

#include "tests/cli/job.hpp"

namespace wirewise {
namespace {

TEST(Doctor, SaysWhatThisMachineHas) {
    const Said said = run_binary({"doctor", "--format", "json"});
    const auto json = said.json();
    EXPECT_EQ(json.at("schema"), "wirewise.doctor/1");
    EXPECT_GT(json.at("host").at("memory_bytes"), 0);
    EXPECT_EQ(json.at("libraries").size(), 4U);
    EXPECT_TRUE(json.at("backends").at("host"));
    EXPECT_EQ(said.exit_code, json.at("problems").empty() ? 0 : 2);
    if (json.at("driver").is_null()) {
        EXPECT_TRUE(json.at("gpus").empty());
        EXPECT_EQ(said.exit_code, 0) << said.err;
    }
    EXPECT_NE(run_binary({"doctor", "--format", "table"}).out.find("NVIDIA driver"), std::string::npos);
}

TEST(Doctor, ShowsVariablesAndTheLauncher) {
    Job whole({"doctor", "--format", "json"},
              {"NCCL_P2P_DISABLE=1", "RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=h", "MASTER_PORT=7",
               "WIREWISE_RUN_TOKEN=secret"});
    const Said said = whole.wait(20);
    const auto json = said.json();
    EXPECT_EQ(json.at("environment").at("NCCL_P2P_DISABLE"), "1");
    EXPECT_FALSE(json.at("environment").contains("WIREWISE_RUN_TOKEN"));
    EXPECT_EQ(json.at("launcher").at("name"), "torchrun");
    EXPECT_EQ(json.at("launcher").at("store"), "h:7");
    Job half({"doctor"}, {"RANK=1"});
    const Said refused = half.wait(20);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("WORLD_SIZE: is missing"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace wirewise
