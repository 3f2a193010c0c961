// Bad input ends with exit code 2 and one clear line on standard error: place, problem, remedy. Never a crash
// or a hang.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_binary.hpp"

namespace wirewise {
namespace {

const std::string kPlan = "plan --model mistral-7b --machine a100-80gb-x4 ";

void expect_refused(const Said& run, const std::string& part) {
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << "one line is wanted: " << run.err;
    EXPECT_TRUE(run.err.starts_with("wirewise: error: ")) << run.err;
}

// A config.json of the given text; removed at the end.
class Config {
  public:
    explicit Config(const std::string& text)
        : path_(std::filesystem::temp_directory_path() /
                ("wirewise_" + std::to_string(std::hash<std::string>{}(text)) + ".json")) {
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~Config() { std::filesystem::remove(path_); }
    Config(const Config&) = delete;
    Config& operator=(const Config&) = delete;
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

std::string llama(const std::string& change = {}) {
    return R"({"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
               "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 1000)" +
           change + "}";
}

TEST(BadOption, FsdpVersion) {
    expect_refused(wirewise_run(kPlan + "--runtime pytorch --fsdp-version 3"), "--fsdp-version");
    expect_refused(wirewise_run(kPlan + "--fsdp-version 1"), "--runtime pytorch");
    expect_refused(wirewise_run(kPlan + "--runtime pytorch --no-limit-all-gathers"), "--fsdp-version 1");
    expect_refused(wirewise_run(kPlan + "--runtime pytorch --no-use-orig-params"), "--fsdp-version 1");
    expect_refused(
        wirewise_run(kPlan +
                     "--runtime pytorch --strategy fsdp --fsdp-version 1 --offload optimizer,parameters"),
        "--offload");
}

TEST(BadConfig, TruncatedJson) {
    const Config config(llama().substr(0, 60));
    expect_refused(run_binary({"model", config.path()}), config.path());
}

TEST(BadConfig, NegativeHiddenSize) {
    const Config config(llama(R"(, "hidden_size": -1)"));
    expect_refused(run_binary({"model", config.path()}), "hidden_size");
}

TEST(BadConfig, HeadsThatDoNotDivide) {
    const Config config(llama(R"(, "num_attention_heads": 7, "num_key_value_heads": 3)"));
    expect_refused(run_binary({"model", config.path()}), "head");
}

TEST(BadConfig, TooManyLayers) {
    const Config config(llama(R"(, "num_hidden_layers": 1000000000000)"));
    expect_refused(run_binary({"model", config.path()}), "num_hidden_layers");
}

TEST(BadConfig, Folder) {
    expect_refused(run_binary({"model", std::filesystem::temp_directory_path().string()}), "config.json");
}

TEST(BadConfig, Binary) {
    const Config config(
        std::string("\x7f"
                    "ELF\0\x01\x02\xff\xfe",
                    9));
    expect_refused(run_binary({"model", config.path()}), config.path());
}

TEST(BadConfig, UnknownName) { expect_refused(wirewise_run("model mistrl-7b"), "mistral-7b"); }

TEST(BadOption, GpuTwice) { expect_refused(wirewise_run(kPlan + "--gpu-ids 0,0"), "--gpu-ids"); }
TEST(BadOption, GpuBeyond) {
    expect_refused(wirewise_run("plan --model mistral-7b --machine hgx-h100-8 --gpu-ids 9"), "0 to 7");
}
TEST(BadOption, GpuNotANumber) { expect_refused(wirewise_run(kPlan + "--gpu-ids 0,x"), "--gpu-ids"); }
TEST(BadOption, MoreGpusThanThereAre) { expect_refused(wirewise_run(kPlan + "--gpus 5"), "--gpus"); }
TEST(BadOption, ZeroGpus) { expect_refused(wirewise_run(kPlan + "--gpus 0"), "--gpus"); }
TEST(BadOption, MicroBatchZero) { expect_refused(wirewise_run(kPlan + "--micro-batch 0"), "--micro-batch"); }
TEST(BadOption, SequenceZero) {
    expect_refused(wirewise_run(kPlan + "--sequence-length 0"), "--sequence-length");
}
TEST(BadOption, PointwiseRecomputeUnderPyTorch) {
    expect_refused(wirewise_run(kPlan + "--runtime pytorch --recompute pointwise"), "--recompute");
}
TEST(BadOption, RepeatedHeadsUnderNative) {
    expect_refused(wirewise_run(kPlan + "--repeat-kv"), "--repeat-kv");
}
TEST(BadOption, GlobalBatchZero) {
    expect_refused(wirewise_run(kPlan + "--global-batch 0"), "--global-batch");
}
TEST(BadOption, ShardGroupThatDoesNotDivide) {
    expect_refused(wirewise_run(kPlan + "--strategy hsdp --shard-group 3"), "--shard-group");
}
TEST(BadOption, SeveralNodesWithoutANetwork) {
    expect_refused(wirewise_run(kPlan + "--nodes 2"), "--fabric");
}
TEST(BadOption, MicroBatchNegative) {
    expect_refused(wirewise_run(kPlan + "--micro-batch -3"), "--micro-batch");
}
TEST(BadOption, MicroBatchHuge) {
    expect_refused(wirewise_run(kPlan + "--micro-batch 99999999999999999"), "--micro-batch");
}
TEST(BadOption, QuantityBeyondRange) {
    expect_refused(
        wirewise_run(kPlan +
                     "--strategy fsdp --micro-batch 1000000000 --sequence-length 1000000000 --loss-chunk 0"),
        "range");
}
TEST(BadOption, MorePiecesOfLogitsThanAProgramHolds) {
    expect_refused(wirewise_run(kPlan + "--micro-batch 1000000"), "--loss-chunk");
}
TEST(BadOption, GpuIdsOfAnEmptyVariable) {
    expect_refused(
        run_binary({"plan", "--model", "mistral-7b", "--machine", "a100-80gb-x4", "--gpu-ids", ""}),
        "--gpu-ids");
}
TEST(BadOption, EmptyVariables) {
    const std::vector<std::string> plan{"plan", "--model", "mistral-7b", "--machine", "a100-80gb-x4"};
    for (const std::string option : {"--gpus", "--global-batch", "--sequence-length", "--micro-batch"}) {
        auto words = plan;
        words.insert(words.end(), {option, ""});
        expect_refused(run_binary(words), option + ": is given an empty value");
        words = plan;
        words.push_back(option + "=");
        expect_refused(run_binary(words), option + ": is given an empty value");
    }
}
TEST(BadOption, GpuThatTheMachineHasNot) {
    expect_refused(wirewise_run(kPlan + "--gpu h200-sxm"), "a100-80gb-sxm");
}
TEST(BadOption, LimitsThatAreNone) {
    const std::string check = "check --model mistral-7b --machine a100-80gb-x4 ";
    expect_refused(wirewise_run(check + "--max-slowdown nan"), "--max-slowdown");
    expect_refused(wirewise_run(check + "--min-tokens-per-second -1"), "--min-tokens-per-second");
}
TEST(BadOption, TokensBeyondReason) {
    expect_refused(wirewise_run(kPlan + "--tokens-total 1e30"), "--tokens-total");
}
TEST(BadFile, EndlessMachine) {
    expect_refused(wirewise_run("plan --model mistral-7b --machine /dev/zero"), "16 MiB");
}
TEST(BadFile, ModelThatCannotBeRead) {
    expect_refused(wirewise_run("model /proc/self/mem"), "/proc/self/mem");
}
TEST(BadFile, MessageCannotSteerTheTerminal) {
    const Config config("{\"model_type\": \"\\u001b[31mred\\nline\"}");
    expect_refused(run_binary({"model", config.path(), "--quiet"}), "?[31mred?line");
}
TEST(BadFile, PlaceIsSaidOnce) {
    const Config machine("{}");
    const Said run = run_binary({"plan", "--model", "mistral-7b", "--machine", machine.path()});
    expect_refused(run, "not a wirewise machine");
    const std::string name = std::filesystem::path(machine.path()).filename().string();
    EXPECT_EQ(run.err.find(name), run.err.rfind(name)) << run.err;
}
TEST(BadOption, UnknownDtype) {
    expect_refused(wirewise_run(kPlan + "--parameter-dtype bf61"), "--parameter-dtype");
}
TEST(BadOption, UnknownStrategy) { expect_refused(wirewise_run(kPlan + "--strategy fsdq"), "--strategy"); }
TEST(BadOption, StrategyTheRuntimeHasNot) {
    expect_refused(wirewise_run(kPlan + "--runtime pytorch --strategy zero2"), "zero2");
}
TEST(BadOption, UnknownRuntime) { expect_refused(wirewise_run(kPlan + "--runtime jax"), "--runtime"); }
TEST(BadOption, UnknownMachine) {
    expect_refused(wirewise_run("plan --model mistral-7b --machine a100-80gb-x5"), "a100-80gb-x4");
}
TEST(BadOption, UnknownMachineToRead) { expect_refused(wirewise_run("topo h200-nvl-9"), "h200-nvl-8"); }
TEST(BadOption, PlaceByNoBytes) {
    expect_refused(wirewise_run("place --machine h200-nvl-8 --count 4 --bytes 0B"), "--bytes");
}
TEST(BadOption, UnknownFormat) { expect_refused(wirewise_run("model mistral-7b --format yaml"), "--format"); }
TEST(BadOption, GlobalBatchThatDoesNotDivide) {
    expect_refused(wirewise_run(kPlan + "--strategy ddp --global-batch 7"), "--global-batch");
}
TEST(BadOption, Reserved) {
    for (const char* option :
         {"--tensor-parallel", "--pipeline-parallel", "--context-parallel", "--expert-parallel"})
        expect_refused(wirewise_run(kPlan + option + " 2"), "not modelled yet");
}
TEST(BadOption, UnknownOptionIsAnsweredWithNearNames) {
    expect_refused(wirewise_run(kPlan + "--micro-bacth 2"), "--micro-batch");
}
TEST(BadOption, UnknownCommandIsAnsweredWithNearNames) { expect_refused(wirewise_run("plam"), "plan"); }
TEST(BadOption, NoModel) { expect_refused(wirewise_run("plan --machine a100-80gb-x4"), "--model"); }
TEST(BadOption, PriceWithoutUnit) {
    expect_refused(
        run_binary({"plan", "--model", "mistral-7b", "--machine", "a100-80gb-x4", "--price", "2.10"}),
        "USD/GPU/h");
}
TEST(BadOption, PlanOutInNoFolder) {
    expect_refused(wirewise_run(kPlan + "--strategy fsdp --plan-out /nowhere/plan.json"), "--plan-out");
}

}  // namespace
}  // namespace wirewise
