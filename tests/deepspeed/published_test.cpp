// DeepSpeed's published runs against what plan predicts, uncalibrated: every row is printed, none is left out
// for its error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "model/strategy/lower.hpp"
#include "simulator/planner/candidate.hpp"
#include "tools/inputs/inputs.hpp"

namespace wirewise {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

json fixture() {
    std::ifstream file(WIREWISE_SOURCE_FOLDER "/tests/deepspeed/fixtures/published.json");
    return json::parse(file);
}

double gib(Bytes bytes) { return static_cast<double>(bytes.count()) / static_cast<double>(1 << 30); }

struct Row {
    Question question;
    PlanCandidate candidate;
};

Row predicted(const json& row, const json& group) {
    Words words = group.at("options").get<Words>();
    for (const auto& word : row.at("options")) words.push_back(word.get<std::string>());
    Row result{inputs_of(plan_options_of(words)).question, {}};
    const Question& question = result.question;
    const Site site = site_of(question, question.gpus);
    result.candidate = judge(question, plan_for(question, question.strategies.front(), site.ranks()), site);
    return result;
}

// Up to the first optimizer step.
Bytes first_backward(const Row& row) {
    const ParallelPlan plan = with_walked_micro_batches(row.candidate.plan);
    MemoryWalk walk = walk_for(plan.runtime);
    walk.run(lower(row.question.model, plan, Phase::load));
    const StepProgram program = lower(row.question.model, plan, Phase::first_step);
    std::vector<Bytes> allocated;
    walk.run(program, {.allocated_by_op = &allocated});
    Bytes most;
    for (std::size_t i = 0; i < allocated.size(); ++i)
        if (program.ops[i].section != Section::update) most = std::max(most, allocated[i]);
    return most;
}

// What stays when a step is over, plus the logits that the loop's variable holds.
Bytes kept(const Row& row) {
    const ParallelPlan& plan = row.candidate.plan;
    MemoryWalk walk = walk_for(plan.runtime);
    for (const Phase phase : {Phase::load, Phase::first_step, Phase::second_step})
        walk.run(lower(row.question.model, plan, phase));
    return walk.allocated() +
           bytes_of(plan.tokens_per_micro_batch() * row.question.model.vocabulary, DType::bf16);
}

double predict(const std::string& quantity, const Row& row) {
    if (quantity == "peak_gib") return gib(row.candidate.estimate.peak.allocated);
    if (quantity == "first_backward_gib") return gib(first_backward(row));
    if (quantity == "kept_gib") return gib(kept(row));
    return row.candidate.throughput.tokens_per_second /
           static_cast<double>(row.candidate.plan.sequence_length);
}

double median(std::vector<double> errors) {
    std::sort(errors.begin(), errors.end());
    const std::size_t half = errors.size() / 2;
    return errors.size() % 2 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
}

TEST(DeepSpeedPublished, EveryRow) {
    const json all = fixture();
    std::map<std::string, std::vector<double>> errors;
    for (const json& row : all.at("rows")) {
        const Row result = predicted(row, all.at("groups").at(row.at("group").get<std::string>()));
        for (const char* quantity : {"kept_gib", "peak_gib", "first_backward_gib", "samples_per_second"}) {
            if (!row.contains(quantity)) continue;
            const double measured = row.at(quantity).get<double>(), said = predict(quantity, result);
            const double error = said / measured - 1;
            fmt::print("{:28} {:20} measured {:6.2f} predicted {:6.2f} {:+6.1f} %\n",
                       row.at("id").get<std::string>(), quantity, measured, said, 100 * error);
            errors[quantity == std::string("samples_per_second") ? "time" : "memory"].push_back(
                std::abs(error));
            errors["all"].push_back(std::abs(error));
        }
    }
    for (const auto& [name, list] : errors)
        fmt::print("{}: {} figures, median {:.1f} %, worst {:.1f} %\n", name, list.size(), 100 * median(list),
                   100 * *std::max_element(list.begin(), list.end()));
    EXPECT_LE(median(errors.at("memory")), 0.05);
    EXPECT_LE(median(errors.at("time")), 0.11);
    EXPECT_LE(median(errors.at("all")), 0.07);
    EXPECT_EQ(errors.at("memory").size(), 16U);
    EXPECT_EQ(errors.at("time").size(), 10U);
}

}  // namespace
}  // namespace wirewise
