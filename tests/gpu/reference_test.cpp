// Every strategy computes on CUDA the steps that transformers computed: losses, gradient norms, first
// gradients, last weights; in bf16, the losses of the host executor's bf16.
#include "tests/host/reference.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "executor/training/checkpoint.hpp"
#include "tests/gpu/cuda_team.hpp"
#include "tests/gpu/device_values.hpp"

namespace wirewise {
namespace {

using test::CudaTeam;
using test::fp32_plan;
using test::Reference;

// What fp32 sums in another order may differ by.
constexpr double kLossLimit = 1e-4, kTensorLimit = 1e-3, kHalfLossLimit = 1e-2;

struct Errors {
    double loss = 0, norm = 0, gradient = 0, weight = 0;
};

double worst_tensor(const Reference& reference, CudaTeam& team, TensorKind kind) {
    double worst = 0;
    int compared = 0;
    for (const UnitTensor& tensor : team.first().tensors()) {
        const std::string name = (kind == TensorKind::gradient ? "grad_step0." : "final.") + tensor.name;
        if (!reference.trace.find(name)) continue;  // the committed traces hold the root and layer 0
        const double error = test::relative_error(team.read(kind, tensor), reference.tensor(name));
        ++compared;
        EXPECT_LE(error, kTensorLimit) << name;
        worst = std::max(worst, error);
    }
    EXPECT_GT(compared, 10);
    return worst;
}

Errors run(const Reference& reference, const ParallelPlan& plan) {
    CudaTeam team(reference.model, plan, reference.numbers);
    const Checkpoint checkpoint(reference.folder);
    checkpoint.check(reference.model, team.first().tensors());
    team.load(checkpoint);
    Errors worst;
    for (std::int64_t step = 0; step < reference.steps; ++step) {
        const StepResult result = team.step(reference.tokens(step));
        const auto index = static_cast<std::size_t>(step);
        worst.loss = std::max(worst.loss, std::abs(result.loss / reference.losses[index] - 1));
        worst.norm =
            std::max(worst.norm, std::abs(result.gradient_norm / reference.gradient_norms[index] - 1));
        if (step == 0) worst.gradient = worst_tensor(reference, team, TensorKind::gradient);
    }
    worst.weight = worst_tensor(reference, team, TensorKind::parameter);
    EXPECT_LE(worst.loss, kLossLimit);
    EXPECT_LE(worst.norm, kTensorLimit);
    return worst;
}

struct Setting {
    Strategy strategy;
    Mesh mesh;
    std::int64_t accumulation;
    Recompute recompute;
};

std::vector<Setting> settings() {
    std::vector<Setting> all;
    for (const Recompute recompute :
         {Recompute::none, Recompute::pointwise, Recompute::selective, Recompute::full})
        all.push_back({Strategy::single, {}, 2, recompute});
    for (const Strategy strategy :
         {Strategy::ddp, Strategy::zero1, Strategy::zero2, Strategy::fsdp, Strategy::fsdp_shard_grad_op})
        for (const std::int64_t accumulation : {1, 2})
            all.push_back({strategy, mesh_for(strategy, 2, 0), accumulation, Recompute::pointwise});
    all.push_back({Strategy::fsdp, mesh_for(Strategy::fsdp, 4, 0), 1, Recompute::full});
    all.push_back({Strategy::hsdp, {.replicate = 2, .shard = 2}, 1, Recompute::pointwise});
    return all;
}

std::vector<std::filesystem::path> reference_folders() {
    std::vector<std::filesystem::path> folders = test::uncommitted_folders();
    for (const char* name : {"llama_tiny", "qwen3_tiny"}) folders.push_back(test::reference_folder(name));
    std::erase_if(folders, [](const auto& folder) { return !std::filesystem::exists(folder); });
    std::sort(folders.begin(), folders.end());
    folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
    return folders;
}

TEST(CudaReference, EveryStrategyComputesTheReferenceSteps) {
    WIREWISE_NEEDS_GPU();
    const auto folders = reference_folders();
    ASSERT_FALSE(folders.empty()) << "set WIREWISE_SHARED";
    for (const auto& folder : folders) {
        const Reference reference(folder);
        for (const Setting& s : settings()) {
            SCOPED_TRACE(fmt::format("{} {} on {}x{}, accumulation {}, recompute {}",
                                     folder.filename().string(), name_of(s.strategy), s.mesh.replicate,
                                     s.mesh.shard, s.accumulation, name_of(s.recompute)));
            const Errors e = run(reference, fp32_plan(s.strategy, s.mesh, reference.batch, reference.sequence,
                                                      s.accumulation, s.recompute));
            fmt::print(
                "table fp32 {:14} {:18} {}x{} acc {} {:9} loss {:.1e} norm {:.1e} gradients {:.1e} weights "
                "{:.1e}\n",
                folder.filename().string(), name_of(s.strategy), s.mesh.replicate, s.mesh.shard,
                s.accumulation, name_of(s.recompute), e.loss, e.norm, e.gradient, e.weight);
        }
    }
}

// What the sanitizers watch: little work, every strategy's ops.
TEST(CudaReference, OneStepOfEachStrategy) {
    WIREWISE_NEEDS_GPU();
    const auto folders = reference_folders();
    ASSERT_FALSE(folders.empty()) << "set WIREWISE_SHARED";
    const Reference reference(folders.front());
    for (const Setting& s : settings()) {
        ParallelPlan plan =
            fp32_plan(s.strategy, s.mesh, reference.batch, reference.sequence, s.accumulation, s.recompute);
        plan.clip_gradients = true;
        Hyperparameters numbers = reference.numbers;
        numbers.max_gradient_norm = 1;
        CudaTeam team(reference.model, plan, numbers);
        team.load(Checkpoint(reference.folder));
        EXPECT_NEAR(team.step(reference.tokens(0)).loss, reference.losses[0],
                    kLossLimit * reference.losses[0]);
    }
}

// Losses of the same steps on the host and on CUDA.
double worst_loss_difference(const Reference& reference, const ParallelPlan& plan) {
    CudaTeam team(reference.model, plan, reference.numbers);
    const auto host = make_host_executor(reference.model, plan, reference.numbers);
    const Checkpoint checkpoint(reference.folder);
    team.load(checkpoint);
    host->load(checkpoint);
    double worst = 0;
    for (std::int64_t step = 0; step < reference.steps; ++step) {
        const std::vector<std::int32_t> tokens = reference.tokens(step);
        worst = std::max(worst, std::abs(team.step(tokens).loss / host->step(tokens).loss - 1));
    }
    return worst;
}

TEST(CudaReference, HalfPrecisionLossesAreTheHosts) {
    WIREWISE_NEEDS_GPU();
    for (const auto& folder : reference_folders()) {
        const Reference reference(folder);
        for (const Precision precision :
             {Precision{}, Precision{.reduce = DType::fp32, .master_weights = true},
              Precision{.parameter = DType::fp32, .gradient = DType::fp32, .reduce = DType::bf16},
              Precision{.gradient = DType::fp32, .reduce = DType::fp32, .optimizer_state = DType::bf16}})
            for (const auto& [strategy, ranks] :
                 {std::pair{Strategy::single, 1}, {Strategy::fsdp, 2}, {Strategy::ddp, 2}}) {
                ParallelPlan plan = fp32_plan(strategy, mesh_for(strategy, ranks, 0), reference.batch,
                                              reference.sequence, 1, Recompute::pointwise);
                plan.precision = precision;
                const double worst = worst_loss_difference(reference, plan);
                EXPECT_LE(worst, kHalfLossLimit) << folder << " " << name_of(strategy);
                fmt::print(
                    "table bf16 {:14} {:18} parameters {} gradients {} reduced {} states {}: loss {:.1e}\n",
                    folder.filename().string(), name_of(strategy), name_of(precision.parameter),
                    name_of(precision.gradient), name_of(precision.reduce),
                    name_of(precision.optimizer_state), worst);
            }
    }
}

TEST(CudaReference, OneBatchIsOverfitted) {
    WIREWISE_NEEDS_GPU();
    const auto folders = reference_folders();
    ASSERT_FALSE(folders.empty()) << "set WIREWISE_SHARED";
    const Reference reference(folders.front());
    for (const bool half : {false, true}) {
        ParallelPlan plan =
            fp32_plan(Strategy::single, {}, reference.batch, reference.sequence, 1, Recompute::pointwise);
        if (half) plan.precision = {.master_weights = true};
        plan.clip_gradients = true;
        Hyperparameters numbers = reference.numbers;
        numbers.learning_rate = 3e-3;
        numbers.max_gradient_norm = 1;
        CudaTeam team(reference.model, plan, numbers);
        team.load(Checkpoint(reference.folder));
        const std::vector<std::int32_t> tokens = reference.tokens(0);
        const double first = team.step(tokens).loss;
        double last = first;
        for (int step = 0; step < 150; ++step) last = team.step(tokens).loss;
        fmt::print("table overfit {}: {:.3f} -> {:.3f}\n", half ? "bf16" : "fp32", first, last);
        EXPECT_LT(last, 0.2 * first);
    }
}

}  // namespace
}  // namespace wirewise
