// The parts of an explained case add up to what was predicted.
#include "tools/validate/explain.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "model/units/error.hpp"
#include "tests/validate/committed.hpp"
#include "tools/validate/step_terms.hpp"

namespace wirewise::test {
namespace {

MeasuredCase committed_case(const std::string& id) {
    return find_case({committed_files(), {WIREWISE_SOURCE_FOLDER "/tests/validate/cases/models"}, "", {}, {}},
                     id);
}

class Explained : public testing::TestWithParam<const char*> {};

TEST_P(Explained, TermsAddUpToTheStep) {
    const MeasuredCase one = committed_case(GetParam());
    const PredictedStep step = predict_step(std::get<TrainingStepCase>(one.subject), "");
    const StepTerms terms = step_terms(step);
    EXPECT_NEAR(terms.total() / step.candidate.estimate.time.step, 1, 1e-6);
    EXPECT_GT(terms.gemm.value(), 0);
    EXPECT_GE(terms.exposed.value(), 0);
    EXPECT_GT(terms.contention.value(), -0.02 * terms.total().value());
}

TEST_P(Explained, MemoryRowsAddUpToThePeak) {
    const MeasuredCase one = committed_case(GetParam());
    const Report report = explain(one, "", "");
    if (!report.document.contains("memory")) return;
    double rows = 0, peak = 0;
    bool summed = false;
    for (const Json& row : report.document.at("memory")) {
        if (row.at("term") == "peak allocated") peak = row.at("predicted"), summed = true;
        if (!summed) rows += row.at("predicted").get<double>();
    }
    EXPECT_EQ(rows, peak);
}

INSTANTIATE_TEST_SUITE_P(Cases, Explained,
                         testing::Values("nvl-mistral7b-L8-s4096-b1-a1-ddp-bf16",
                                         "nvl-mistral7b-L8-s4096-b1-a1-fsdp-bf16", "llm-foundry-001"));

TEST(Explain, PutsTheProfileBesideTheTerms) {
    const std::string file = testing::TempDir() + "profiled_for_explain.json";
    std::ofstream(file)
        << R"([{"model": "mistral-7b-v0.1.json", "num_hidden_layers": 8, "micro_batch": 1, "strategy": "ddp",
        "compile": false, "step_ms": 116.585, "kernels": [
        {"name": "aten::mm", "count": 171, "total_us": 63202.5},
        {"name": "nvjet_sm90_tst_128x256", "count": 48, "total_us": 16000},
        {"name": "nvjet_sm90_tst_256x128", "count": 49, "total_us": 15000},
        {"name": "cudnn_generated_fort_native_sdpa_sm90_flash_bprop", "count": 8, "total_us": 6500}]}])";
    const Report report = explain(committed_case("nvl-mistral7b-L8-s4096-b1-a1-ddp-bf16"), "", file);
    EXPECT_NEAR(report.document.at("time").at(0).at("measured").get<double>(), 0.031,
                1e-9);  // products, not host calls
    EXPECT_NEAR(report.document.at("time").at(1).at("measured").get<double>(), 0.0065, 1e-9);
}

TEST(Explain, NamesNearCasesAndWhyOneIsLeftOut) {
    EXPECT_THROW(committed_case("llm-foundry-0001"), InputError);
    for (const LeftOut& one : committed_validation().left_out)
        if (one.reason == "tensor parallel") {
            EXPECT_THROW(explain(committed_case(one.id), "", ""), InputError);
            return;
        }
    FAIL() << "no case is left out for tensor parallelism";
}

}  // namespace
}  // namespace wirewise::test
