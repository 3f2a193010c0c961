// Every strategy computes the step that transformers computed: losses, gradient norms, first gradients, last
// weights.
#include "tests/host/reference.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "executor/training/checkpoint.hpp"

namespace wirewise {
namespace {

using test::fp32_plan;
using test::Reference;

// What fp32 sums in another order may differ by.
constexpr double kLossLimit = 2e-5, kNormLimit = 1e-4, kTensorLimit = 1e-4;

struct Errors {
    double loss = 0, norm = 0, gradient = 0, weight = 0;
};

double worst_tensor(const Reference& reference, const Executor& executor, TensorKind kind) {
    double worst = 0;
    int compared = 0;
    for (const UnitTensor& tensor : executor.tensors()) {
        const std::string name = (kind == TensorKind::gradient ? "grad_step0." : "final.") + tensor.name;
        if (!reference.trace.find(name)) continue;  // the committed traces hold the root and layer 0
        const double error =
            test::relative_error(test::read(executor, kind, tensor), reference.tensor(name));
        ++compared;
        EXPECT_LE(error, kTensorLimit) << name;
        worst = std::max(worst, error);
    }
    EXPECT_GT(compared, 10);
    return worst;
}

Errors run(const Reference& reference, const ParallelPlan& plan) {
    const auto executor = make_host_executor(reference.model, plan, reference.numbers);
    const Checkpoint checkpoint(reference.folder);
    checkpoint.check(reference.model, executor->tensors());
    executor->load(checkpoint);
    Errors worst;
    for (std::int64_t step = 0; step < reference.steps; ++step) {
        const StepResult result = executor->step(reference.tokens(step));
        const auto index = static_cast<std::size_t>(step);
        worst.loss = std::max(worst.loss, std::abs(result.loss / reference.losses[index] - 1));
        worst.norm =
            std::max(worst.norm, std::abs(result.gradient_norm / reference.gradient_norms[index] - 1));
        if (step == 0) worst.gradient = worst_tensor(reference, *executor, TensorKind::gradient);
    }
    worst.weight = worst_tensor(reference, *executor, TensorKind::parameter);
    EXPECT_LE(worst.loss, kLossLimit);
    EXPECT_LE(worst.norm, kNormLimit);
    EXPECT_EQ(executor->memory().allocated, executor->memory().planned);
    return worst;
}

struct Setting {
    Strategy strategy;
    Mesh mesh;
};

std::vector<Setting> settings() {
    std::vector<Setting> all{{Strategy::single, {}}, {Strategy::hsdp, {.replicate = 2, .shard = 2}}};
    for (const Strategy strategy :
         {Strategy::ddp, Strategy::zero1, Strategy::zero2, Strategy::fsdp, Strategy::fsdp_shard_grad_op})
        for (const int ranks : {1, 2, 4}) all.push_back({strategy, mesh_for(strategy, ranks, 0)});
    return all;
}

constexpr std::array kRecomputes{Recompute::none, Recompute::pointwise, Recompute::selective,
                                 Recompute::full};

void run_every_strategy(const std::filesystem::path& folder) {
    const Reference reference(folder);
    for (const Setting& setting : settings()) {
        Errors worst;
        for (const std::int64_t accumulation : {1, 2})
            for (const Recompute recompute : kRecomputes) {
                SCOPED_TRACE(fmt::format("{} on {}x{}, accumulation {}, recompute {}",
                                         name_of(setting.strategy), setting.mesh.replicate,
                                         setting.mesh.shard, accumulation, name_of(recompute)));
                const Errors errors =
                    run(reference, fp32_plan(setting.strategy, setting.mesh, reference.batch,
                                             reference.sequence, accumulation, recompute));
                worst = {std::max(worst.loss, errors.loss), std::max(worst.norm, errors.norm),
                         std::max(worst.gradient, errors.gradient), std::max(worst.weight, errors.weight)};
            }
        fmt::print("{} {} {}x{}: loss {:.1e}, norm {:.1e}, gradients {:.1e}, weights {:.1e}\n",
                   reference.model.name, name_of(setting.strategy), setting.mesh.replicate,
                   setting.mesh.shard, worst.loss, worst.norm, worst.gradient, worst.weight);
    }
}

class EveryStrategy : public testing::TestWithParam<const char*> {};

TEST_P(EveryStrategy, ComputesTheReferenceSteps) { run_every_strategy(test::reference_folder(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Models, EveryStrategy, testing::Values("llama_tiny", "qwen3_tiny"),
                         [](const auto& test) { return test.param; });

TEST(EveryStrategyOfOtherModels, ComputesTheReferenceSteps) {
    const auto folders = test::uncommitted_folders();
    if (folders.empty()) GTEST_SKIP() << "WIREWISE_SHARED has no reference models";
    for (const auto& folder : folders) run_every_strategy(folder);
}

}  // namespace
}  // namespace wirewise
