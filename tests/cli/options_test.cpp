// Options that say nothing sensible are refused; options that do nothing are told.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/folder.hpp"
#include "tests/cli/run_binary.hpp"

namespace wirewise {
namespace {

const std::string kPlan = "plan --model mistral-7b --machine a100-80gb-x4 ";
const std::string kTiny = std::string(WIREWISE_SOURCE_FOLDER) + "/tests/host/fixtures/llama_tiny";

void expect_refused(const Said& run, const std::string& option) {
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_TRUE(run.err.starts_with("wirewise: error: " + option)) << run.err;
    EXPECT_NE(run.err.find("; "), std::string::npos) << "no remedy: " << run.err;
}

TEST(Numbers, MinusOneAndZeroAreSaid) {
    for (const std::string number : {"-1", "0"}) {
        const std::string value = " " + number;
        expect_refused(wirewise_run(kPlan + "--gpus" + value), "--gpus");
        expect_refused(wirewise_run(kPlan + "--global-batch" + value), "--global-batch");
        expect_refused(wirewise_run(kPlan + "--strategy hsdp --shard-group" + value), "--shard-group");
        expect_refused(wirewise_run(kPlan + "--sequence-length" + value), "--sequence-length");
        expect_refused(
            wirewise_run(kPlan + "--runtime pytorch --recompute selective --recompute-every" + value),
            "--recompute-every");
        expect_refused(run_binary({"run", "--backend", "host", "--model", kTiny, "--gpus", number}),
                       "--gpus");
    }
    expect_refused(wirewise_run(kPlan + "--loss-chunk -1"), "--loss-chunk");
    EXPECT_EQ(wirewise_run(kPlan + "--strategy fsdp --loss-chunk 0").exit_code, 0);
}

TEST(Unheeded, TheHostHasNoMachine) {
    const Said run = run_binary({"run", "--backend", "host", "--model", kTiny, "--steps", "1", "--gpus", "2",
                                 "--sequence-length", "16", "--machine", "hgx-h100-8", "--without", "nvlink",
                                 "--nccl-env", "NCCL_ALGO=Ring"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.err.find("--machine, --without, --nccl-env have no effect"), std::string::npos) << run.err;
}

TEST(Unheeded, OptionsOfAnotherRuntime) {
    const std::string options = "--strategy fsdp --window-mask --no-gradient-as-bucket-view";
    const Said native = wirewise_run(kPlan + options);
    EXPECT_EQ(native.exit_code, 0) << native.err;
    EXPECT_NE(native.err.find("--window-mask has no effect"), std::string::npos) << native.err;
    EXPECT_NE(native.err.find("--no-gradient-as-bucket-view has no effect"), std::string::npos) << native.err;
    const Said pytorch = wirewise_run(kPlan + "--runtime pytorch " + options);
    EXPECT_EQ(pytorch.err.find("no effect"), std::string::npos) << pytorch.err;
}

TEST(PlanFile, HasItsNumberOfRanks) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    const Said made = run_binary({"plan", "--model", kTiny, "--machine", "a100-80gb-x4", "--gpus", "2",
                                  "--strategy", "ddp", "--sequence-length", "16", "--plan-out", file});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    expect_refused(run_binary({"run", "--backend", "host", "--steps", "1", "--plan", file, "--gpus", "3"}),
                   "--gpus");
    EXPECT_EQ(
        run_binary({"run", "--backend", "host", "--steps", "1", "--plan", file, "--gpus", "2"}).exit_code, 0);
}

TEST(Save, IsTriedBeforeTheTraining) {
    expect_refused(run_binary({"run", "--backend", "host", "--model", kTiny, "--steps", "1000000",
                               "--sequence-length", "16", "--save", "/proc/x"}),
                   "--save");
}

TEST(Bench, ChecksItsOptionsWithoutAGpu) {
    expect_refused(wirewise_run("bench --out x.jsonl --wires nvlonk"), "--wires");
    expect_refused(wirewise_run("bench --out x.jsonl --gpus 0"), "--gpus");
    EXPECT_NE(wirewise_run("bench --out x.jsonl --model no-such-model").err.find("no-such-model"),
              std::string::npos);
    EXPECT_NE(wirewise_run("bench --out x.jsonl --machine no-such-machine").err.find("no-such-machine"),
              std::string::npos);
}

TEST(Export, SaysWhatItLeavesOut) {
    const std::string plan =
        "export --model mistral-7b --machine hgx-h100-8 --strategy fsdp --runtime pytorch --recompute "
        "selective --recompute-every 2 --compile --compile-loss --for ";
    const Said titan = wirewise_run(plan + "torchtitan");
    ASSERT_EQ(titan.exit_code, 0) << titan.err;
    EXPECT_EQ(titan.err.find("not in the exported"), std::string::npos) << titan.err;
    const std::string toml = titan.json().at("files").at(0).at("text");
    EXPECT_NE(toml.find("selective_ac_option = \"2\""), std::string::npos) << toml;
    EXPECT_NE(toml.find("components = [\"model\", \"loss\"]"), std::string::npos) << toml;
    const Said accelerate = wirewise_run(plan + "accelerate");
    ASSERT_EQ(accelerate.exit_code, 0) << accelerate.err;
    for (const char* option : {"--recompute selective", "--recompute-every", "--compile", "--compile-loss"})
        EXPECT_NE(accelerate.err.find(std::string(option) + " is not in the exported"), std::string::npos)
            << accelerate.err;
}

TEST(CollectiveRows, ImplausibleOnesAreRefused) {
    const std::string row =
        R"({{"kind": "collective", "machine": "hgx-h100-8", "gpus": 8, "op": "all_reduce", "bytes": 1048576, {}}})";
    const std::pair<const char*, const char*> bad[] = {
        {R"("us": -3)", "us"},
        {R"("us": "3")", "us"},
        {R"("us": 1e15)", "us"},
        {R"("us": 1e-9)", "us"},
        {R"("busbw_gigabytes_per_second": 1e9)", "busbw"},
        {R"("us": 100, "busbw_gigabytes_per_second": 400)", "but us means"},
        {R"("us": 100, "wire": 3)", "wire"},
        {R"("us": 100, "nccl_env": {"NCCL_ALGO": null})", "NCCL_ALGO"}};
    const Folder folder;
    for (const auto& [field, part] : bad) {
        std::ofstream(folder / "rows.jsonl") << fmt::format(fmt::runtime(row), field);
        const Said said = run_binary({"validate", folder / "rows.jsonl"});
        EXPECT_EQ(said.exit_code, 2) << field;
        EXPECT_NE(said.err.find("rows.jsonl:1"), std::string::npos) << said.err;
        EXPECT_NE(said.err.find(part), std::string::npos) << said.err;
    }
    std::ofstream(folder / "rows.jsonl") << fmt::format(fmt::runtime(row), R"("us": 60)");
    EXPECT_EQ(run_binary({"validate", folder / "rows.jsonl"}).exit_code, 0);
}

}  // namespace
}  // namespace wirewise
