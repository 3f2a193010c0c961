// What DeepSpeed keeps, against the ZeRO paper's closed forms (arXiv 1910.02054, section 3 and 5: 2P + 2P +
// 12P bytes with K = 12, shared over N) and DeepSpeed's own host estimates (docs: memory-requirements: 16 or
// 18 bytes a parameter).
#include "model/memory/states.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/strategy/lower.hpp"
#include "model/transformer/read_config.hpp"
#include "simulator/planner/walk_phases.hpp"

namespace wirewise {
namespace {

ParallelPlan plan_for(Strategy strategy, int ranks) {
    ParallelPlan plan;
    plan.runtime = Runtime::deepspeed;
    plan.strategy = strategy;
    plan.mesh = mesh_for(strategy, ranks, 2);
    plan.sequence_length = 128;
    plan.recompute = Recompute::full;
    plan.precision.master_weights = true;
    plan.loss_chunk = 0;
    return plan;
}

struct Kept {
    Bytes device, host;
};

Kept kept(const Transformer& model, const ParallelPlan& plan, Role role) {
    Kept sum;
    for (const Buffer& buffer : lower(model, plan, Phase::first_step).buffers)
        if (buffer.role == role && buffer.lifetime == Lifetime::persistent)
            (buffer.space == MemorySpace::host ? sum.host : sum.device) += buffer.bytes;
    return sum;
}

double per_parameter(Bytes bytes, const Transformer& model) {
    return static_cast<double>(bytes.count()) / static_cast<double>(model.parameters());
}

TEST(DeepSpeedStates, AreTheZeroPapers) {
    const Transformer model = load_model("llama-2-7b", {"num_hidden_layers=6"});
    for (const int n : {1, 2, 4, 8, 64}) {
        for (const Strategy strategy : {Strategy::ddp, Strategy::zero1, Strategy::zero2, Strategy::fsdp}) {
            const ParallelPlan plan = plan_for(strategy, n);
            const Sharding sharding = sharding_of(strategy);
            const double shared = 1.0 / n, tolerance = 0.002;  // padding, and what persists whole
            EXPECT_NEAR(per_parameter(kept(model, plan, Role::parameter).device, model),
                        sharding.parameters ? 2 * shared : 2, tolerance);
            EXPECT_NEAR(per_parameter(kept(model, plan, Role::master_parameter).device, model),
                        sharding.optimizer ? 4 * shared : 4, tolerance);
            EXPECT_NEAR(per_parameter(kept(model, plan, Role::optimizer).device, model),
                        sharding.optimizer ? 8 * shared : 8, tolerance);
            if (sharding.parameters) {
                EXPECT_NEAR(per_parameter(kept(model, plan, Role::gradient).device, model), 2 * shared,
                            tolerance);
            }
            EXPECT_NEAR(per_parameter(states_of(model.parameters(), plan).total(), model),
                        (sharding.parameters ? 2 * shared : 2) + (sharding.gradients ? 2 * shared : 2) +
                            (sharding.optimizer ? 12 * shared : 12),
                        tolerance);
        }
    }
}

// 16 bytes of a parameter with the optimizer offloaded, 18 with the parameters too; ours adds the 2 bytes of
// gradient.
TEST(DeepSpeedStates, OffloadedTheHostHoldsThem) {
    const Transformer model = load_model("llama-2-7b", {"num_hidden_layers=6"});
    constexpr int kRanks = 4;
    for (const bool parameters : {false, true}) {
        ParallelPlan plan = plan_for(Strategy::fsdp, kRanks);
        plan.offload = {.optimizer = true, .parameters = parameters};
        const WalkedPhases walked = walk_phases(model, plan);
        const PhasePeak& steady = walked.phases[3];
        EXPECT_NEAR(per_parameter(steady.host_kept, model) * kRanks, parameters ? 20 : 18, 0.01);
    }
    ParallelPlan plan = plan_for(Strategy::zero2, kRanks);
    plan.offload.optimizer = true;
    const double host = per_parameter(walk_phases(model, plan).phases[3].host_kept, model) * kRanks;
    EXPECT_GT(host, 16);  // master, moments, fp32 gradients
    EXPECT_LT(host, 19);  // and the updated 16-bit parameters, a scratch gradient
}

TEST(DeepSpeedStates, NothingOfTheOptimizerStaysOnTheGpu) {
    const Transformer model = load_model("llama-3.2-1b", {"num_hidden_layers=4"});
    for (const Strategy strategy : {Strategy::zero1, Strategy::zero2, Strategy::fsdp}) {
        ParallelPlan plan = plan_for(strategy, 4);
        plan.offload.optimizer = true;
        for (const Role role : {Role::optimizer, Role::master_parameter})
            EXPECT_EQ(kept(model, plan, role).device, Bytes(0)) << name_of(strategy);
        plan.offload.optimizer = false;
        EXPECT_EQ(kept(model, plan, Role::optimizer).host, Bytes(0));
    }
}

struct Drawn {
    Transformer model;
    ParallelPlan plan;
};

Drawn draw() {
    const int layers = *rc::gen::inRange(1, 5);
    Drawn drawn{load_model("llama-3.2-1b", {fmt::format("num_hidden_layers={}", layers)}), {}};
    drawn.plan = plan_for(*rc::gen::element(Strategy::ddp, Strategy::zero1, Strategy::zero2, Strategy::fsdp),
                          *rc::gen::inRange(1, 17));
    drawn.plan.gradient_accumulation = *rc::gen::inRange(1, 4);
    drawn.plan.recompute = *rc::gen::element(Recompute::none, Recompute::full);
    drawn.plan.deepspeed.reduce_bucket_size = *rc::gen::inRange(1'000'000, 600'000'000);
    drawn.plan.deepspeed.max_live_parameters = *rc::gen::inRange(1'000'000, 1'000'000'000);
    drawn.plan.deepspeed.param_persistence_threshold = *rc::gen::inRange(0, 5'000'000);
    return drawn;
}

// Gradients of stages below 3 come and go.
Bytes states(const Drawn& drawn) {
    const States all = states_of(drawn.model.parameters(), drawn.plan);
    return all.parameters + all.optimizer + all.master_parameters + all.gradients;
}

RC_GTEST_PROP(DeepSpeedProperties, PeakHoldsAllStates, ()) {
    const Drawn drawn = draw();
    RC_ASSERT(walk_phases(drawn.model, drawn.plan).peak.allocated >= states(drawn));
}

RC_GTEST_PROP(DeepSpeedProperties, MoreRanksNeverHoldMore, ()) {
    Drawn few = draw();
    Drawn many = few;
    many.plan.mesh = mesh_for(many.plan.strategy, 2 * many.plan.mesh.world(), 2);
    const Bytes padding(4 * 1024 * 1024);
    for (const Role role : {Role::master_parameter, Role::optimizer, Role::parameter})
        RC_ASSERT(kept(many.model, many.plan, role).device <=
                  kept(few.model, few.plan, role).device + padding +
                      Bytes(2 * few.plan.deepspeed.param_persistence_threshold * 64));
}

RC_GTEST_PROP(DeepSpeedProperties, OffloadNeverAddsToTheGpusStates, ()) {
    Drawn drawn = draw();
    if (!sharding_of(drawn.plan.strategy).optimizer) return;
    const Bytes without = walk_phases(drawn.model, drawn.plan).peak.allocated;
    drawn.plan.offload.optimizer = true;
    const WalkedPhases with = walk_phases(drawn.model, drawn.plan);
    RC_ASSERT(with.phases[3].host_kept > Bytes(0));
    RC_ASSERT(with.peak.allocated <= without + bytes_of(std::int64_t{2} * 128256 * 2048, DType::fp32));
}

}  // namespace
}  // namespace wirewise
