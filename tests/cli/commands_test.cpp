// The other commands: keys and exit codes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_binary.hpp"

namespace wirewise {
namespace {

using Json = nlohmann::ordered_json;

TEST(Model, CountsExactly) {
    const Said run = wirewise_run("model mistral-7b");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json json = run.json();
    EXPECT_EQ(json.at("schema"), "wirewise.model/1");
    EXPECT_EQ(json.at("parameters"), 7'241'732'096);
    EXPECT_EQ(json.at("supported"), true);
    std::int64_t sum = 0;
    for (const auto& [part, count] : json.at("parts").items()) sum += count.get<std::int64_t>();
    EXPECT_EQ(sum, 7'241'732'096);
}

TEST(Model, OverridesAreTaken) {
    EXPECT_LT(wirewise_run("model mistral-7b --set num_hidden_layers=8").json().at("parameters"),
              2'100'000'000);
}

TEST(Model, UnsupportedSaysWhyWithExitTwo) {
    const auto path = std::filesystem::temp_directory_path() / "wirewise_bert.json";
    std::ofstream(path)
        << R"({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 30522})";
    const Said run = run_binary({"model", path.string()});
    std::filesystem::remove(path);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.json().at("supported"), false);
    EXPECT_FALSE(run.json().at("why").get<std::string>().empty());
    EXPECT_FALSE(run.err.empty());
}

TEST(Help, NamesEveryCommandAndEndsWithZero) {
    const Said run = wirewise_run("--help");
    EXPECT_EQ(run.exit_code, 0);
    for (const char* command :
         {"plan", "what-if", "solve", "check", "export", "place", "collective", "topo", "model"}) {
        EXPECT_NE(run.out.find(command), std::string::npos) << command;
        EXPECT_EQ(wirewise_run(std::string(command) + " --help").exit_code, 0) << command;
    }
}

TEST(Topo, BuiltInMachine) {
    const Said run = wirewise_run("topo h200-nvl-8");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json json = run.json();
    EXPECT_EQ(json.at("schema"), "wirewise.topo/1");
    EXPECT_EQ(json.at("verdict"), "ok");
    EXPECT_EQ(json.at("gpus").size(), 8U);
    EXPECT_EQ(json.at("islands"), Json::parse("[[0,1,2,3],[4,5,6,7]]"));
}

TEST(Topo, RejectIsStillJsonWithExitTwo) {
    const Said run = run_binary({"topo", "-"}, "the weather is fine\n");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.json().at("verdict"), "reject");
}

TEST(Topo, MatrixStandsInAMarkdownFence) {
    const Said run = wirewise_run("topo rtx-3090-2 --format markdown");
    EXPECT_TRUE(run.out.starts_with("```\n")) << run.out;
    EXPECT_TRUE(run.out.ends_with("\n```\n")) << run.out;
}

TEST(Topo, ProductNameOfTheGpu) {
    const Said run = run_binary({"topo", "-", "--gpu", "NVIDIA GeForce RTX 3090"},
                                "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.json().at("gpus").at(0).at("model"), "rtx-3090");
}

TEST(Topo, MachineFormatReadsBack) {
    const Said written = wirewise_run("topo h200-nvl-8 --format machine");
    ASSERT_EQ(written.exit_code, 0) << written.err;
    const Said read = run_binary({"topo", "-"}, written.out);
    EXPECT_EQ(read.exit_code, 0) << read.err;
    EXPECT_EQ(read.json().at("pairs"), wirewise_run("topo h200-nvl-8").json().at("pairs"));
}

TEST(Collective, BridgeGroupAgainstAcross) {
    const auto busbw = [](const std::string& gpus) {
        const Said run =
            wirewise_run("collective --machine h200-nvl-8 --op all_reduce --bytes 1GiB --gpu-ids " + gpus);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return run.json().at("results").at(0).at("busbw_bytes_per_second").get<double>();
    };
    EXPECT_NEAR(busbw("0,1,2,3") / 1e9, 322, 32.2);
    EXPECT_LT(busbw("2,3,4,5") / 1e9, 39);
    EXPECT_GT(busbw("2,3,4,5") / 1e9, 28);
}

TEST(Collective, NeverBeatsTheBound) {
    const Json json =
        wirewise_run("collective --machine hgx-h100-8 --op all_gather --sweep 1KiB:1GiB").json();
    EXPECT_EQ(json.at("results").size(), 21U);
    for (const Json& row : json.at("results"))
        EXPECT_LE(row.at("busbw_bytes_per_second"), row.at("bound_busbw_bytes_per_second"));
}

TEST(Collective, SaysWhenThePinsLeaveNothing) {
    const std::string question =
        "collective --machine hgx-h100-8 --op all_reduce --bytes 1GiB --nccl-env NCCL_ALGO=NVLS";
    EXPECT_EQ(wirewise_run(question).err, "");
    const Said run = wirewise_run(question + " --nccl-env NCCL_PROTO=LL");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.err.find("leaves all_reduce no algorithm"), std::string::npos) << run.err;
}

TEST(Place, SaysWhichOptionsItLeavesAside) {
    const Said run = wirewise_run("place --machine h200-nvl-8 --count 4 --gpu-ids 0,1");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.err.find("--gpu-ids have no effect"), std::string::npos) << run.err;
}

TEST(Place, PrefersOneBridgeGroup) {
    const Said run = wirewise_run("place --machine h200-nvl-8 --count 4");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json best = run.json().at("placements").at(0);
    EXPECT_EQ(best.at("gpus"), Json::parse("[0,1,2,3]"));
    EXPECT_EQ(best.at("export"), "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0,1,2,3");
}

// The same GPUs of every node; collective and step go over the network.
TEST(Place, OverSeveralNodes) {
    const std::string question = "place --machine h200-nvl-8 --count 4 --model mistral-7b --strategy fsdp";
    const Said one = wirewise_run(question),
               two = wirewise_run(question + " --nodes 2 --fabric infiniband-ndr");
    ASSERT_EQ(two.exit_code, 0) << two.err;
    EXPECT_EQ(two.json().at("nodes"), 2);
    const Json alone = one.json().at("placements").at(0), joined = two.json().at("placements").at(0);
    EXPECT_NE(joined.at("busbw_bytes_per_second"), alone.at("busbw_bytes_per_second"));
    EXPECT_NE(joined.at("step_seconds"), alone.at("step_seconds"));
    EXPECT_EQ(
        wirewise_run("place --machine hgx-h100-8 --count 1 --nodes 2 --fabric infiniband-ndr").exit_code, 0);
}

// Where wiring only bounds a path the answer is the middle of a range.
TEST(Collective, HostPathsHaveARange) {
    const Said run = wirewise_run("collective --op all_reduce --bytes 1GiB --machine h200-nvl-8");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json result = run.json().at("results").at(0);
    const Json range = result.at("busbw_range_bytes_per_second");
    const double low = range.at(0), high = range.at(1), middle = result.at("busbw_bytes_per_second");
    EXPECT_LT(low, middle);
    EXPECT_GT(high, middle);
    EXPECT_GT(high, 2 * low);
    EXPECT_LE(high, 2.5 * low);
}

TEST(WhatIf, ComparesPlacements) {
    const Said run = wirewise_run(
        "what-if --model mistral-7b --machine h200-nvl-8 --strategy fsdp --gpu-ids 0,1,2,3 --gpu-ids "
        "2,3,4,5");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json json = run.json();
    ASSERT_EQ(json.at("cells").size(), 2U);
    EXPECT_EQ(json.at("cells").at(0).at("slowdown"), 1.0);
    EXPECT_GT(json.at("cells").at(1).at("slowdown"), 1.5);
}

TEST(WhatIf, VariesAnyOption) {
    const Said run = wirewise_run(
        "what-if --model mistral-7b --machine hgx-h100-8 --strategy fsdp,zero1 --vary micro-batch=1,2,4");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.json().at("variants").size(), 3U);
    EXPECT_EQ(run.json().at("cells").size(), 6U);
}

TEST(WhatIf, UnknownOptionIsRefused) {
    EXPECT_EQ(
        wirewise_run("what-if --model mistral-7b --machine hgx-h100-8 --vary colour=red,blue").exit_code, 2);
    EXPECT_EQ(wirewise_run("what-if --model mistral-7b --machine hgx-h100-8").exit_code, 2);
}

TEST(Solve, TheLargestMicroBatchIsTheLast) {
    const std::string question =
        "--model mistral-7b --machine hgx-h100-8 --strategy fsdp --sequence-length 2048";
    const Said run = wirewise_run("solve max-micro-batch " + question);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto most = run.json().at("solutions").at(0).at("value").get<std::int64_t>();
    const auto fits = [&](std::int64_t batch) {
        return wirewise_run("plan " + question + " --micro-batch " + std::to_string(batch))
            .json()
            .at("candidates")
            .at(0)
            .at("fits");
    };
    EXPECT_EQ(fits(most), "yes");
    EXPECT_NE(fits(most + 1), "yes");
}

TEST(Solve, MicroBatchesDivideTheGlobalBatch) {
    const std::string question =
        "--model mistral-7b --machine a100-80gb-x4 --strategy zero1 --global-batch 64";
    const Said run = wirewise_run("solve max-micro-batch " + question);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json solution = run.json().at("solutions").at(0);
    const auto most = solution.at("value").get<std::int64_t>();
    EXPECT_EQ(64 / 4 % most, 0);
    const Said plan = wirewise_run("plan " + question + " --micro-batch " + std::to_string(most));
    ASSERT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_EQ(plan.json().at("candidates").at(0).at("memory"), solution.at("candidate").at("memory"));
}

TEST(Plan, WarnsOfAProfileOfAnotherGpu) {
    const std::string question = "plan --model mistral-7b --machine a100-80gb-x4 --strategy fsdp ";
    EXPECT_NE(wirewise_run(question + "--profile h200-sxm").err.find("not of the machine's"),
              std::string::npos);
    EXPECT_EQ(wirewise_run(question + "--profile data-sheet").err, "");
}

TEST(Plan, WarnsOfAPriceWithoutTokens) {
    const Said run = run_binary({"plan", "--model", "mistral-7b", "--machine", "a100-80gb-x4", "--strategy",
                                 "fsdp", "--price", "2.10 USD/GPU/h"});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.err.find("--tokens-total"), std::string::npos) << run.err;
}

TEST(Plan, LongAccumulationIsPlannedAtOnce) {
    const std::string question =
        "plan --model mistral-7b --machine hgx-h100-8 --runtime pytorch --strategy fsdp ";
    const auto rate = [&](const char* accumulation) {
        const Said run = wirewise_run(question + "--gradient-accumulation " + accumulation);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return run.json().at("candidates").at(0).at("throughput").at("tokens_per_second").get<double>();
    };
    EXPECT_NEAR(rate("1000000") / rate("16"), 1, 0.02);
}

TEST(Output, ThatCannotBeWrittenIsSaid) {
    const std::string command =
        std::string("\"") + WIREWISE_BINARY + "\" model mistral-7b 2>/dev/null >/dev/full";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
}

TEST(Solve, FewestGpus) {
    const Said run =
        wirewise_run("solve min-gpus --model mistral-7b --machine a100-80gb-x4 --sequence-length 2048");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto gpus = run.json().at("solutions").at(0).at("gpus").get<int>();
    EXPECT_GT(gpus, 1) << "86.9 GB of states do not fit one GPU of 80";
    EXPECT_LE(gpus, 4);
}

TEST(Check, ExitCodeFollowsTheLimits) {
    const std::string question = "check --model mistral-7b --machine hgx-h100-8 --strategy fsdp ";
    EXPECT_EQ(wirewise_run(question + "--max-memory 79GB").exit_code, 0);
    EXPECT_EQ(wirewise_run(question + "--max-memory 10GB").exit_code, 3);
    EXPECT_EQ(wirewise_run(question + "--min-tokens-per-second 1e9").exit_code, 3);
    EXPECT_EQ(wirewise_run(question + "--max-memory 10").exit_code, 2);
}

TEST(Export, EveryLauncherHasACommand) {
    for (const char* launcher : {"torchrun", "accelerate", "deepspeed", "torchtitan", "megatron"}) {
        const Said run = wirewise_run(
            std::string("export --model mistral-7b --machine hgx-h100-8 --strategy fsdp --for ") + launcher);
        ASSERT_EQ(run.exit_code, 0) << run.err;
        EXPECT_FALSE(run.json().at("command").get<std::string>().empty());
    }
    EXPECT_EQ(wirewise_run("export --model mistral-7b --machine hgx-h100-8 --for slurm").exit_code, 2);
}

}  // namespace
}  // namespace wirewise
