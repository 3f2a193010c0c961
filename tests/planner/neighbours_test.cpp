// More memory on more GPUs, or with a smaller micro-batch, is never left without a reason.
#include "simulator/planner/neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/topology/import.hpp"
#include "model/transformer/read_config.hpp"
#include "simulator/planner/candidate.hpp"

namespace wirewise {
namespace {

Question question_of(Runtime runtime) {
    std::vector<std::string> notes;
    Question question;
    question.model = load_model("tinyllama-1.1b", {});
    question.machine = load_machine("hgx-h100-8", {}, notes);
    for (int gpu = 0; gpu < 8; ++gpu) question.gpus.push_back(gpu);
    question.profile = profile_from_data_sheet(*question.machine.gpu(0).model);
    question.shard_group = 2;
    question.plan.runtime = runtime;
    question.plan.sequence_length = 512;
    question.plan.recompute = Recompute::none;
    question.plan.loss_chunk = 0;
    question.plan.precision.master_weights = runtime == Runtime::deepspeed;
    return question;
}

PlanCandidate candidate_of(const Question& question, Strategy strategy, int ranks) {
    const Site site = site_of(question, {question.gpus.begin(), question.gpus.begin() + ranks});
    PlanCandidate candidate;
    candidate.plan = plan_for(question, strategy, ranks);
    candidate.gpus = {question.gpus.begin(), question.gpus.begin() + ranks};
    candidate.estimate = estimate_memory(question.model, candidate.plan, site);
    candidate.odd = odd_against_neighbours(question, candidate);
    return candidate;
}

bool says(const std::vector<std::string>& notes, const std::string& part) {
    return std::ranges::any_of(notes,
                               [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

void expect_reasons(Question question, const std::vector<Strategy>& strategies) {
    for (const Strategy strategy : strategies)
        for (const std::int64_t micro_batch : {1, 2, 4}) {
            question.plan.micro_batch = micro_batch;
            const PlanCandidate four = candidate_of(question, strategy, 4);
            const PlanCandidate eight = candidate_of(question, strategy, 8);
            const bool more = eight.estimate.device_used() / four.estimate.device_used() > 1.001;
            EXPECT_EQ(says(eight.odd, "on 4 GPUs"), more) << name_of(strategy) << " " << micro_batch;
            question.plan.micro_batch = 2 * micro_batch;
            const PlanCandidate twice = candidate_of(question, strategy, 8);
            const bool odd = eight.estimate.device_used() / twice.estimate.device_used() > 1.001;
            EXPECT_EQ(says(eight.odd, "with micro-batch"), odd) << name_of(strategy) << " " << micro_batch;
        }
}

TEST(Neighbours, PyTorch) {
    expect_reasons(question_of(Runtime::pytorch),
                   {Strategy::zero1, Strategy::fsdp, Strategy::fsdp_shard_grad_op});
}

TEST(Neighbours, DeepSpeed) {
    expect_reasons(question_of(Runtime::deepspeed), {Strategy::zero1, Strategy::zero2, Strategy::fsdp});
}

TEST(Neighbours, TheReasonNamesWhatIsMoreAndWhatIsLess) {
    Question question = question_of(Runtime::pytorch);
    PlanCandidate candidate = candidate_of(question, Strategy::fsdp, 8);
    candidate.estimate.peak.breakdown[static_cast<std::size_t>(Role::communication)] += Bytes(5'000'000'000);
    candidate.estimate.peak.allocated += Bytes(5'000'000'000);
    candidate.estimate.reserved += Bytes(5'000'000'000);
    const std::vector<std::string> odd = odd_against_neighbours(question, candidate);
    ASSERT_FALSE(odd.empty());
    EXPECT_TRUE(odd.front().starts_with("fsdp needs")) << odd.front();
    EXPECT_TRUE(says(odd, "communication +")) << odd.front();
    EXPECT_TRUE(says(odd, "what more GPUs share (")) << odd.front();
}

TEST(Neighbours, OurRuntimeHasNoneAndOneGpuHasNoHalf) {
    EXPECT_TRUE(candidate_of(question_of(Runtime::native), Strategy::fsdp, 8).odd.empty());
    EXPECT_FALSE(says(candidate_of(question_of(Runtime::pytorch), Strategy::fsdp, 2).odd, "GPUs:"));
}

}  // namespace
}  // namespace wirewise
