// Case files: what is read, what is refused and where, what is left out and why.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "calibration/cases/read_cases.hpp"
#include "model/units/error.hpp"
#include "tests/validate/committed.hpp"
#include "tools/validate/predict.hpp"

namespace wirewise::test {
namespace {

using nlohmann::json;

const std::string kFolder = testing::TempDir() + std::to_string(getpid()) + "-";  // tests run side by side

std::vector<MeasuredCase> read(const std::string& text) {
    const std::string file = kFolder + "cases.jsonl";
    std::ofstream(file) << text;
    return read_cases(file);
}

std::string refusal(const std::string& text) {
    try {
        read(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

json step_row() {
    return {
        {"id", "x"}, {"kind", "training_step"}, {"model", "gpt2"},      {"machine", "h200-x2"},
        {"gpus", 2}, {"strategy", "ddp"},       {"runtime", "pytorch"}, {"measured", {{"step_ms", 100.0}}}};
}

json published_row() {
    return {{"id", "llm-foundry-900"},
            {"framework", "llm-foundry"},
            {"model", "MPT 1b"},
            {"num_layers", 24},
            {"hidden_size", 2048},
            {"num_attention_heads", 16},
            {"vocab_size", 50368},
            {"hardware", "h100_80gb"},
            {"num_gpus", 8},
            {"strategy", "FSDP FULL_SHARD"},
            {"micro_batch_size", 4},
            {"global_batch_size", 64},
            {"seq_len", 2048},
            {"precision", "amp_bf16"},
            {"recompute", "none"},
            {"tokens_per_s_per_gpu", 40000},
            {"source", "made up"},
            {"measured", true},
            {"tp", 1},
            {"pp", 1}};
}

TEST(ReadCases, KeysBecomeOptionsOfPlan) {
    json row = step_row();
    row["model_overrides"] = {{"n_layer", 2}};
    row["nccl_env"] = {{"NCCL_P2P_DISABLE", "1"}};
    row["sequence_length"] = 512;
    row["compile"] = false;
    row["wire"] = "host_memory";
    const auto cases = read(row.dump());
    ASSERT_EQ(cases.size(), 1u);
    const PredictedStep step = predict_step(std::get<TrainingStepCase>(cases[0].subject), "");
    EXPECT_EQ(step.question.model.layer_count(), 2);
    EXPECT_EQ(step.candidate.plan.sequence_length, 512);
    EXPECT_EQ(step.candidate.plan.runtime, Runtime::pytorch);
    EXPECT_EQ(step.candidate.estimate.runtime.transport, "shm");  // nccl_env decides the wire
    EXPECT_EQ(cases[0].labels.wire, "host_memory");
    EXPECT_DOUBLE_EQ(cases[0].readings[0].value, 0.1);
}

TEST(ReadCases, BadRowsNameFileAndLine) {
    const std::string good = step_row().dump() + "\n";
    const auto expect = [&](const json& row, const std::string& what) {
        const std::string message = refusal(good + row.dump());
        EXPECT_NE(message.find("cases.jsonl:2"), std::string::npos) << message;
        EXPECT_NE(message.find(what), std::string::npos) << message;
    };
    json row = step_row();
    row.erase("machine"), expect(row, "machine");
    row = step_row(), row["model"] = "no-such-model", expect(row, "no-such-model");
    row = step_row(), row["measured"] = json::object(), expect(row, "no quantity");
    row = step_row(), row["measured"]["step_ms"] = -1, expect(row, "step_ms");
    row = step_row(), row["measured"]["oom"] = "yes", expect(row, "oom");
    row = step_row(), row["micro_batch"] = json::array({1}), expect(row, "micro_batch");
    expect({{"id", "y"}}, "neither");
    EXPECT_NE(refusal(good + "{\"id\": ").find("cases.jsonl:2"), std::string::npos);
    EXPECT_NE(refusal(good + "[1]").find("cases.jsonl:2"), std::string::npos);
    EXPECT_NE(refusal("\n\n").find("no cases"), std::string::npos);
    EXPECT_THROW(read_cases(kFolder + "nothing-here.jsonl"), InputError);
    EXPECT_THROW(read_cases(testing::TempDir()), InputError);
}

// As `bench` writes them: our own kernels by name, the GPUs that took part.
TEST(ReadCases, BenchNamesKernelsAndGpus) {
    json row = {
        {"kind", "pointwise"}, {"machine", "h200-x2"}, {"op", "norm_backward"}, {"access", "reduction"},
        {"rows", 4096},        {"columns", 4096},      {"bytes", 100'000'000},  {"us", 60.0}};
    const auto kind_read = [&] {
        return std::get<Pointwise>(std::get<KernelCase>(read(row.dump()).at(0).subject).kernel).kind;
    };
    EXPECT_EQ(kind_read(), PointwiseKind::norm_backward);
    row["op"] = "gelu of some framework";
    EXPECT_EQ(kind_read(), PointwiseKind::eager);
    json call = {{"kind", "collective"},
                 {"machine", "h200-nvl-8"},
                 {"op", "all_reduce"},
                 {"bytes", 1 << 20},
                 {"gpus", 2},
                 {"gpu_ids", {2, 3}},
                 {"us", 60.0}};
    const auto gpus = std::get<PublishedCollective>(read(call.dump()).at(0).subject).gpus;
    EXPECT_EQ(gpus, (std::vector<int>{2, 3}));
    for (const json& ids : {json{0}, json{0, -1}, json{"0", "1"}, json(3)}) {
        call["gpu_ids"] = ids;
        EXPECT_NE(refusal(call.dump()).find("gpu_ids"), std::string::npos) << ids;
    }
}

TEST(ReadCases, AMisspeltKeyIsNamedWithItsLine) {
    json row = step_row();
    row["sequence_lenght"] = 512;
    const auto cases = read(row.dump());
    try {
        compare(cases[0], "");
        FAIL() << "was accepted";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("cases.jsonl:1"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("sequence-lenght"), std::string::npos) << error.what();
    }
}

TEST(ReadCases, APlanThatCannotBeIsLeftOutWithThePlannersReason) {
    json row = step_row();
    row["strategy"] = "zero2";
    const ComparedCase compared = compare(read(row.dump())[0], "");
    EXPECT_TRUE(compared.comparisons.empty());
    EXPECT_NE(compared.refused.find("zero2"), std::string::npos) << compared.refused;
}

TEST(PublishedRuns, WordsOfARowBecomeAPlan) {
    const auto cases = read(published_row().dump());
    ASSERT_EQ(cases[0].set_aside, "");
    const PredictedStep step = predict_step(std::get<TrainingStepCase>(cases[0].subject), "");
    EXPECT_EQ(step.candidate.plan.gradient_accumulation, 2);
    EXPECT_EQ(step.candidate.plan.precision.parameter, DType::fp32);
    EXPECT_EQ(step.candidate.plan.precision.compute, DType::bf16);
    EXPECT_EQ(step.question.model.hidden, 2048);
    EXPECT_DOUBLE_EQ(cases[0].readings[0].value, 8 * 2048 / 40000.0);
}

PredictedStep predicted(const json& row) {
    const auto cases = read(row.dump());
    EXPECT_EQ(cases[0].set_aside, "");
    return predict_step(std::get<TrainingStepCase>(cases[0].subject), "");
}

// A source that no convention names: its own words, and the frameworks' defaults.
TEST(PublishedRuns, ASourceNeverSeenIsReadByItsWords) {
    json row = {{"id", "newlab-1"},
                {"framework", "Accelerate FSDP"},
                {"model", "Llama-3.1-8B"},
                {"hardware", "H100 SXM 80GB"},
                {"num_gpus", 16},
                {"num_nodes", 2},
                {"strategy", "HYBRID_SHARD"},
                {"precision", "bf16 mixed"},
                {"recompute", "full"},
                {"micro_batch_size", 2},
                {"seq_len", 4096},
                {"tokens_per_s_per_gpu", 7800},
                {"source", "made up"},
                {"measured", true}};
    PredictedStep step = predicted(row);
    EXPECT_EQ(step.candidate.plan.strategy, Strategy::hsdp);
    EXPECT_EQ(step.candidate.plan.mesh.shard, 8);
    EXPECT_EQ(step.candidate.plan.precision.parameter, DType::fp32);
    EXPECT_EQ(step.question.machine.name, "hgx-h100-8");
    row.update({{"framework", "DeepSpeed"}, {"strategy", "ZeRO stage 2"}, {"hardware", "A100 40GB"}});
    row.update({{"num_gpus", 8}, {"num_nodes", 1}, {"model", "Llama 2 7B"}});
    step = predicted(row);
    EXPECT_EQ(step.candidate.plan.strategy, Strategy::zero2);
    EXPECT_EQ(step.candidate.plan.runtime, Runtime::deepspeed);
    EXPECT_EQ(step.question.machine.gpu(0).model->name, "a100-40gb-sxm");
    row["strategy"] = "ZeRO-3 + LoRA";
    EXPECT_EQ(read(row.dump())[0].set_aside, "LoRA and its relatives");
    row["strategy"] = "FSDP, TP=8";
    EXPECT_EQ(read(row.dump())[0].set_aside, "tensor, pipeline, sequence or expert parallel");
    row["strategy"] = "ZeRO_3";
    row["recompute"] = true;
    step = predicted(row);
    EXPECT_EQ(step.candidate.plan.strategy, Strategy::fsdp);
    EXPECT_EQ(step.candidate.plan.recompute, Recompute::full);
    row.update({{"framework", "PyTorch"}, {"strategy", "Fully Sharded Data Parallel"}});
    EXPECT_EQ(predicted(row).candidate.plan.strategy, Strategy::fsdp);
}

TEST(PublishedRuns, ReasonsNameWhatIsOutOfReach) {
    const auto reason = [](const char* key, const json& value) {
        json row = published_row();
        if (value.is_null())
            row.erase(key);
        else
            row[key] = value;
        return read(row.dump())[0].set_aside;
    };
    EXPECT_EQ(reason("tp", 8), "tensor parallel");
    EXPECT_EQ(reason("pp", 2), "pipeline parallel");
    EXPECT_EQ(reason("cp", 2), "context parallel");
    EXPECT_EQ(reason("ep", 4), "expert parallel");
    EXPECT_EQ(reason("precision", "amp_fp8"), "8-bit or 4-bit compute");
    EXPECT_EQ(reason("seq_len", nullptr), "no sequence length");
    EXPECT_EQ(reason("micro_batch_size", nullptr), "no micro-batch size");
    EXPECT_EQ(reason("hardware", "some GPUs"), "the hardware is not stated or not in the catalogue");
    EXPECT_EQ(reason("model", "a model"), "the model's shape is not stated or not modelled");
    EXPECT_EQ(reason("measured", false), "a formula's value, not a reading");
}

// Whether a row is left out depends on what it states, not on what was measured.
RC_GTEST_PROP(PublishedRuns, WhatWasMeasuredDecidesNothing, ()) {
    static const std::vector<json> rows = [] {
        std::vector<json> all;
        std::ifstream file(WIREWISE_SOURCE_FOLDER "/tests/validate/cases/published_runs.jsonl");
        for (std::string line; std::getline(file, line);) all.push_back(json::parse(line));
        return all;
    }();
    const json& row = rows[*rc::gen::inRange<std::size_t>(0, rows.size())];
    json other = row;
    for (const char* key :
         {"step_time_s", "tokens_per_s_per_gpu", "tflops_per_gpu", "memory_gib", "memory_gb", "mfu", "hfu"})
        if (other.contains(key)) other[key] = 1 + *rc::gen::inRange(0, 1000000);
    RC_ASSERT(read(row.dump())[0].set_aside == read(other.dump())[0].set_aside);
}

}  // namespace
}  // namespace wirewise::test
