// Strategies against the single rank where no outside trace exists: odd rank counts, padding, options of the
// plan, and the precisions that the GPU runs in.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "executor/training/checkpoint.hpp"
#include "executor/training/seeded_weights.hpp"
#include "executor/training/tokens.hpp"
#include "tests/host/reference.hpp"

namespace wirewise {
namespace {

using test::fp32_plan;
using test::Reference;

constexpr std::int64_t kBatch = 12, kSequence = 32, kSteps = 4;

struct Outcome {
    std::vector<double> losses, norms;
    std::vector<std::vector<float>> weights;
};

Outcome train(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
              const WeightSource& source) {
    const auto executor = make_host_executor(model, plan, numbers);
    executor->load(source);
    const auto tokens = generated_tokens(7, model.vocabulary);
    std::vector<std::int32_t> batch(kBatch * kSequence);
    Outcome outcome;
    for (std::int64_t step = 0; step < kSteps; ++step) {
        tokens->read(step, {kBatch, kSequence}, batch);
        const StepResult result = executor->step(batch);
        outcome.losses.push_back(result.loss);
        outcome.norms.push_back(result.gradient_norm);
    }
    for (const UnitTensor& tensor : executor->tensors())
        outcome.weights.push_back(test::read(*executor, TensorKind::parameter, tensor));
    return outcome;
}

void expect_close(const Outcome& got, const Outcome& expected, double loss_limit, double norm_limit,
                  double weight_limit) {
    for (std::size_t i = 0; i < expected.losses.size(); ++i) {
        EXPECT_NEAR(got.losses[i] / expected.losses[i], 1, loss_limit) << "step " << i;
        EXPECT_NEAR(got.norms[i] / expected.norms[i], 1, norm_limit) << "step " << i;
    }
    for (std::size_t i = 0; i < expected.weights.size(); ++i)
        EXPECT_LE(test::relative_error(got.weights[i], expected.weights[i]), weight_limit) << "tensor " << i;
}

struct Setting {
    Strategy strategy;
    Mesh mesh;
};
const std::vector<Setting> kOddSettings{{Strategy::ddp, {.replicate = 3}},
                                        {Strategy::zero1, {.shard = 3}},
                                        {Strategy::zero2, {.shard = 3}},
                                        {Strategy::fsdp, {.shard = 3}},
                                        {Strategy::fsdp_shard_grad_op, {.shard = 6}},
                                        {Strategy::fsdp, {.shard = 6}},
                                        {Strategy::hsdp, {.replicate = 2, .shard = 3}},
                                        {Strategy::hsdp, {.replicate = 3, .shard = 2}}};

ParallelPlan plan_of(const Setting& setting, std::int64_t accumulation = 1) {
    return fp32_plan(setting.strategy, setting.mesh, kBatch, kSequence, accumulation, Recompute::pointwise);
}

TEST(OddRankCounts, ComputeWhatOneRankComputes) {
    for (const char* const name : {"llama_tiny", "qwen3_tiny"}) {
        const Reference reference(test::committed(name));
        const Checkpoint weights(reference.folder);
        const Outcome single =
            train(reference.model, plan_of({Strategy::single, {}}), reference.numbers, weights);
        for (const Setting& setting : kOddSettings) {
            SCOPED_TRACE(fmt::format("{} {} {}x{}", name, name_of(setting.strategy), setting.mesh.replicate,
                                     setting.mesh.shard));
            const std::int64_t accumulation = setting.mesh.world() == 6 ? 2 : 1;
            expect_close(train(reference.model, plan_of(setting, accumulation), reference.numbers, weights),
                         single, 2e-5, 1e-4, 1e-4);
        }
    }
}

TEST(PlanOptions, ChangeNoNumber) {
    const Reference reference(test::committed("llama_tiny"));
    const Checkpoint weights(reference.folder);
    const Outcome single =
        train(reference.model, plan_of({Strategy::single, {}}), reference.numbers, weights);
    for (const Setting& setting :
         {Setting{Strategy::ddp, {.replicate = 2}}, Setting{Strategy::zero2, {.shard = 2}},
          Setting{Strategy::fsdp, {.shard = 2}}, Setting{Strategy::hsdp, {2, 2}}}) {
        SCOPED_TRACE(name_of(setting.strategy));
        ParallelPlan plan = plan_of(setting, 3);
        plan.no_sync = false;
        plan.loss_chunk = 10;  // does not divide the tokens of a micro-batch
        plan.precision.master_weights = true;
        expect_close(train(reference.model, plan, reference.numbers, weights), single, 2e-5, 1e-4, 1e-4);
    }
}

TEST(Clipping, IsTheSameOnEveryStrategyAndActs) {
    const Reference reference(test::committed("llama_tiny"));
    const Checkpoint weights(reference.folder);
    Hyperparameters numbers = reference.numbers;
    numbers.max_gradient_norm = 0.5;
    numbers.epsilon = 1e-3;  // with Adam's own rescaling out of the way, a clipped step is a smaller one
    const auto clipped = [&](const Setting& setting) {
        ParallelPlan plan = plan_of(setting);
        plan.clip_gradients = true;
        return train(reference.model, plan, numbers, weights);
    };
    const Outcome single = clipped({Strategy::single, {}});
    EXPECT_GT(single.norms[0], 1);  // reported before clipping
    const Outcome free = train(reference.model, plan_of({Strategy::single, {}}), numbers, weights);
    EXPECT_GT(std::abs(free.losses.back() - single.losses.back()), 1e-4);
    for (const Setting& setting : kOddSettings) {
        SCOPED_TRACE(name_of(setting.strategy));
        expect_close(clipped(setting), single, 2e-5, 1e-4, 1e-4);
    }
}

// bf16 weights, gradients and compute: close to fp32, and every stored weight is a bf16 number.
TEST(Bf16, RoundsWhereTheGpuRounds) {
    const Reference reference(test::committed("llama_tiny"));
    const Checkpoint weights(reference.folder);
    const Outcome exact = train(reference.model, plan_of({Strategy::single, {}}), reference.numbers, weights);
    for (const bool master : {false, true})
        for (const Setting& setting : {Setting{Strategy::single, {}}, Setting{Strategy::zero1, {.shard = 2}},
                                       Setting{Strategy::fsdp, {.shard = 3}}}) {
            SCOPED_TRACE(fmt::format("{} master {}", name_of(setting.strategy), master));
            ParallelPlan plan = plan_of(setting);
            plan.precision = {};
            plan.precision.master_weights = master;
            plan.precision.optimizer_state = master ? DType::fp32 : DType::bf16;
            const Outcome rounded = train(reference.model, plan, reference.numbers, weights);
            expect_close(rounded, exact, 3e-3, 3e-2, 0.1);
            for (const float value : rounded.weights.front())
                ASSERT_EQ(std::bit_cast<std::uint32_t>(value) & 0xFFFF, 0U);
        }
}

// However the elements are shared out, each is rounded with the same random bits.
TEST(StochasticRounding, IsTheSameOnAnyNumberOfRanks) {
    using enum DType;
    const Reference reference(test::committed("llama_tiny"));
    const Checkpoint weights(reference.folder);
    Hyperparameters numbers = reference.numbers;
    const auto outcome = [&](const Setting& setting) {
        ParallelPlan plan = plan_of(setting);
        plan.precision = {bf16, fp32, fp32, fp32};
        return train(reference.model, plan, numbers, weights);
    };
    const Outcome nearest = outcome({Strategy::single, {}});
    numbers.stochastic_rounding = true;
    const Outcome single = outcome({Strategy::single, {}});
    // Half of the elements are rounded the other way, by a whole step of bf16.
    EXPECT_GE(test::relative_error(single.weights.front(), nearest.weights.front()), 1e-3);
    for (const Setting& setting :
         {Setting{Strategy::ddp, {.replicate = 2}}, Setting{Strategy::zero1, {.shard = 2}},
          Setting{Strategy::fsdp, {.shard = 3}}, Setting{Strategy::hsdp, {2, 2}}}) {
        SCOPED_TRACE(name_of(setting.strategy));
        expect_close(outcome(setting), single, 1e-4, 1e-3, 3e-4);
    }
}

// Every dtype its own: weights are cast before use, gradients before, between and after their reductions.
TEST(MixedPrecision, CastsBetweenStorageWireAndCompute) {
    using enum DType;
    const Reference reference(test::committed("llama_tiny"));
    const Checkpoint weights(reference.folder);
    const Outcome exact = train(reference.model, plan_of({Strategy::single, {}}), reference.numbers, weights);
    for (const Setting& setting :
         {Setting{Strategy::ddp, {.replicate = 2}}, Setting{Strategy::zero2, {.shard = 2}},
          Setting{Strategy::fsdp, {.shard = 2}}, Setting{Strategy::hsdp, {2, 2}}})
        for (const Precision& precision :
             {Precision{fp32, fp32, bf16, bf16}, Precision{bf16, bf16, fp32, bf16},
              Precision{bf16, fp32, fp32, fp32}}) {
            SCOPED_TRACE(fmt::format("{} reduce {}", name_of(setting.strategy), name_of(precision.reduce)));
            ParallelPlan plan = plan_of(setting, 3);
            plan.precision = precision;
            plan.no_sync = precision.gradient == fp32;
            expect_close(train(reference.model, plan, reference.numbers, weights), exact, 3e-3, 3e-2, 0.1);
        }
}

TEST(SeededWeights, AreTheSameHoweverTheyAreSharded) {
    const Reference reference(test::committed("qwen3_tiny"));
    const SeededWeights weights(11);
    const Outcome single =
        train(reference.model, plan_of({Strategy::single, {}}), reference.numbers, weights);
    const Outcome sharded =
        train(reference.model, plan_of({Strategy::fsdp, {.shard = 3}}), reference.numbers, weights);
    expect_close(sharded, single, 2e-5, 1e-4, 1e-4);
    EXPECT_NEAR(single.losses.front(), std::log(reference.model.vocabulary), 0.1);
}

}  // namespace
}  // namespace wirewise
