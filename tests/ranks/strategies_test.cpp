// Every strategy with a process's view of a rank: the losses, norms and weights of threads, bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "executor/host/host_executor.hpp"
#include "executor/ranks/socket_groups.hpp"
#include "executor/training/seeded_weights.hpp"
#include "executor/training/tokens.hpp"
#include "model/transformer/read_config.hpp"
#include "tests/ranks/together.hpp"

namespace wirewise {
namespace {

constexpr std::int64_t kBatch = 12, kSequence = 16, kSteps = 3;
const std::string kModel = std::string(WIREWISE_SOURCE_FOLDER) + "/tests/host/fixtures/qwen3_tiny";

struct Setting {
    Strategy strategy;
    Mesh mesh;
    DType dtype = DType::fp32;
};

struct Outcome {
    std::vector<double> losses, norms;
    std::vector<std::vector<float>> weights, gradients;
    bool operator==(const Outcome&) const = default;
};

ParallelPlan plan_of(const Setting& setting) {
    ParallelPlan plan{.strategy = setting.strategy, .mesh = setting.mesh, .sequence_length = kSequence};
    plan.micro_batch = kBatch / setting.mesh.world();
    plan.precision = {setting.dtype, setting.dtype, setting.dtype, setting.dtype, DType::fp32, false};
    plan.clip_gradients = true;
    return plan;
}

std::vector<std::vector<float>> all_of(const Executor& executor, TensorKind kind) {
    std::vector<std::vector<float>> all;
    for (const UnitTensor& tensor : executor.tensors()) {
        all.emplace_back(static_cast<std::size_t>(tensor.slice.count));
        executor.read(kind, tensor, all.back());
    }
    return all;
}

Outcome train(Executor& executor, const Transformer& model) {
    executor.load(SeededWeights(5));
    const auto tokens = generated_tokens(7, model.vocabulary);
    std::vector<std::int32_t> batch(kBatch * kSequence);
    Outcome outcome;
    for (std::int64_t step = 0; step < kSteps; ++step) {
        tokens->read(step, {kBatch, kSequence}, batch);
        const StepResult result = executor.step(batch);
        outcome.losses.push_back(result.loss);
        outcome.norms.push_back(result.gradient_norm);
    }
    outcome.weights = all_of(executor, TensorKind::parameter);
    outcome.gradients = all_of(executor, TensorKind::gradient);
    return outcome;
}

std::unique_ptr<Executor> rank_of(TcpRendezvous& ranks, RankGroups& groups, const Transformer& model,
                                  const ParallelPlan& plan, BeforeOp before_op = {}) {
    const Hyperparameters numbers{.max_gradient_norm = 0.5};
    return make_host_executor(model, plan, numbers, {groups, ranks.rank(), ranks.world()},
                              std::move(before_op));
}

void expect_same_as_threads(const Setting& setting) {
    SCOPED_TRACE(fmt::format("{} {}x{} {}", name_of(setting.strategy), setting.mesh.replicate,
                             setting.mesh.shard, name_of(setting.dtype)));
    const Transformer model = load_model(kModel);
    const ParallelPlan plan = plan_of(setting);
    const int world = setting.mesh.world();
    std::vector<Outcome> outcomes(static_cast<std::size_t>(world));
    EXPECT_EQ(test::run_ranks(world,
                              [&](TcpRendezvous& ranks) {
                                  PeerLinks links(ranks);
                                  SocketGroups groups(links, plan.mesh.replicate, plan.mesh.shard);
                                  const auto executor = rank_of(ranks, groups, model, plan);
                                  EXPECT_EQ(executor->leads(), ranks.rank() == 0);
                                  outcomes[static_cast<std::size_t>(ranks.rank())] = train(*executor, model);
                              }),
              test::all_well(world));
    const auto threads = make_host_executor(model, plan, {.max_gradient_norm = 0.5});
    const Outcome expected = train(*threads, model);
    EXPECT_TRUE(outcomes.front() == expected);
    for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.losses, expected.losses);
        EXPECT_EQ(outcome.norms, expected.norms);
    }
}

TEST(ProcessRanks, ComputeTheBitsOfThreads) {
    using enum Strategy;
    for (const int n : {2, 4}) {
        expect_same_as_threads({ddp, {.replicate = n}});
        for (const Strategy strategy : {zero1, zero2, fsdp, fsdp_shard_grad_op})
            expect_same_as_threads({strategy, {.shard = n}});
        expect_same_as_threads({fsdp, {.shard = n}, DType::bf16});
    }
    expect_same_as_threads({hsdp, {.replicate = 2, .shard = 2}});
    expect_same_as_threads({hsdp, {.replicate = 2, .shard = 2}, DType::bf16});
    expect_same_as_threads({hsdp, {.replicate = 2, .shard = 3}});
    expect_same_as_threads({hsdp, {.replicate = 3, .shard = 2}});
}

TEST(ProcessRanks, SayWhereTheyAreAndWhyTheyFail) {
    const Transformer model = load_model(kModel);
    const ParallelPlan plan = plan_of({Strategy::fsdp, {.shard = 3}});
    const auto break_rank_1 = [](int rank, const Op& op) {
        if (rank == 1 && op.section == Section::backward && op.name.layer == 1)
            throw std::runtime_error("cannot allocate 3 GB");
    };
    const auto failures = test::run_ranks(3, [&](TcpRendezvous& ranks) {
        PeerLinks links(ranks);
        SocketGroups groups(links, 1, 3);
        const auto executor = rank_of(ranks, groups, model, plan, break_rank_1);
        EXPECT_EQ(executor->position(), "");
        train(*executor, model);
    });
    for (const std::string& failure : failures) {
        EXPECT_TRUE(failure.starts_with("rank 1: step 1, backward, micro-batch 0, layer 1, ")) << failure;
        EXPECT_TRUE(failure.ends_with(": cannot allocate 3 GB")) << failure;
    }
}

}  // namespace
}  // namespace wirewise
