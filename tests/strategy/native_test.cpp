// Our runtime's programs, for every strategy, recompute mode, batch and precision, over several families of models:
// sound by verify(), and holding what the closed forms say.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "model/program/verify.hpp"
#include "model/program/walk.hpp"
#include "model/strategy/lower.hpp"
#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

constexpr Strategy kAll[] = {Strategy::single, Strategy::ddp,  Strategy::zero1, Strategy::zero2,
                             Strategy::fsdp,   Strategy::fsdp_shard_grad_op, Strategy::hsdp};

ParallelPlan plan_for(Strategy strategy) {
    ParallelPlan plan;
    plan.strategy = strategy;
    plan.mesh = mesh_for(strategy, strategy == Strategy::single ? 1 : 4, 2);
    plan.sequence_length = 512;
    plan.loss_chunk = 200;  // does not divide the tokens
    return plan;
}

void expect_sound(const Transformer& model, const ParallelPlan& plan, const std::string& what) {
    for (const Phase phase : {Phase::steady_step, Phase::evaluation}) {
        const std::vector<Fault> faults = verify(lower(model, plan, phase));
        EXPECT_TRUE(faults.empty()) << what << ": " << faults.size() << " faults, first: " << faults.front().text;
    }
}

TEST(Native, EveryCombinationIsSound) {
    const Transformer model = load_model("mistral-7b", {"num_hidden_layers=5"});
    for (const Strategy strategy : kAll)
        for (const Recompute recompute :
             {Recompute::none, Recompute::pointwise, Recompute::selective, Recompute::full})
            for (const int accumulation : {1, 3})
                for (const bool no_sync : {true, false}) {
                    ParallelPlan plan = plan_for(strategy);
                    plan.recompute = recompute;
                    plan.gradient_accumulation = accumulation;
                    plan.no_sync = no_sync;
                    plan.clip_gradients = accumulation == 3;
                    expect_sound(model, plan,
                                 fmt::format("{} {} x{} {}", name_of(strategy), name_of(recompute), accumulation,
                                             no_sync ? "no_sync" : "sync"));
                }
}

TEST(Native, MoreMicroBatchesThanAStepCanNameAreRefused) {
    ParallelPlan plan = plan_for(Strategy::ddp);
    plan.gradient_accumulation = 65'536;
    EXPECT_THROW(lower(load_model("mistral-7b", {"num_hidden_layers=1"}), plan, Phase::steady_step), InputError);
}

TEST(Native, EveryPrecisionIsSound) {
    const Transformer model = load_model("mistral-7b", {"num_hidden_layers=3"});
    for (const Strategy strategy : kAll)
        for (const DType parameter : {DType::bf16, DType::fp32})
            for (const DType gradient : {DType::bf16, DType::fp32})
                for (const DType reduce : {DType::bf16, DType::fp32}) {
                    ParallelPlan plan = plan_for(strategy);
                    plan.precision = {.parameter = parameter, .gradient = gradient, .reduce = reduce,
                                      .master_weights = parameter == DType::bf16};
                    plan.gradient_accumulation = 2;
                    plan.no_sync = false;
                    expect_sound(model, plan, fmt::format("{} {} {} {}", name_of(strategy), name_of(parameter),
                                                          name_of(gradient), name_of(reduce)));
                }
}

// One of each arrangement of a block: biases, q/k norm, tied tables, LayerNorm and positions, parallel blocks with one
// and two norms, post norms, latent attention, routed experts with and without shared ones.
TEST(Native, EveryFamilyIsSound) {
    for (const char* name : {"qwen2.5-7b", "qwen3-4b", "llama-3.2-1b", "gpt2", "phi-2", "pythia-1.4b", "gemma-2-2b",
                             "olmo-2-7b", "deepseek-v2-lite", "mixtral-8x7b", "gpt-oss-20b"})
        for (const Strategy strategy : kAll)
            for (const Recompute recompute : {Recompute::none, Recompute::pointwise, Recompute::full}) {
                const Transformer model = load_model(name, {});
                ParallelPlan plan = plan_for(strategy);
                plan.recompute = recompute;
                expect_sound(model, plan, fmt::format("{} {} {}", name, name_of(strategy), name_of(recompute)));
            }
}

Bytes held(const StepProgram& program, Role role) {
    Bytes sum;
    for (const Buffer& buffer : program.buffers)
        if (buffer.role == role && buffer.lifetime == Lifetime::persistent) sum += buffer.bytes;
    return sum;
}

TEST(Native, StatesAreTheClosedFormUpToPadding) {
    const Transformer model = load_model("mistral-7b", {});
    const std::int64_t parameters = model.parameters();
    struct Row {
        Strategy strategy;
        int parameter_shards, gradient_shards, optimizer_shards;
    };
    for (const Row& row : {Row{Strategy::single, 1, 1, 1}, Row{Strategy::ddp, 1, 1, 1}, Row{Strategy::zero1, 1, 1, 4},
                           Row{Strategy::zero2, 1, 4, 4}, Row{Strategy::fsdp, 4, 4, 4},
                           Row{Strategy::fsdp_shard_grad_op, 4, 4, 4}, Row{Strategy::hsdp, 2, 2, 2}}) {
        const StepProgram program = lower(model, plan_for(row.strategy), Phase::steady_step);
        const auto near = [&](Role role, int shards, std::int64_t bytes_each) {
            const double expected = static_cast<double>(parameters) * static_cast<double>(bytes_each) / shards;
            const auto actual = static_cast<double>(held(program, role).count());
            EXPECT_GE(actual, expected) << name_of(row.strategy) << " " << name_of(role);
            EXPECT_LE(actual, expected * 1.0001) << name_of(row.strategy) << " " << name_of(role);
        };
        near(Role::parameter, row.parameter_shards, 2);
        near(Role::gradient, row.gradient_shards, 2);
        near(Role::optimizer, row.optimizer_shards, 8);
    }
}

Bytes peak_of(const Transformer& model, const ParallelPlan& plan) {
    MemoryWalk walk(make_arena());
    walk.run(lower(model, plan, Phase::load));
    walk.run(lower(model, plan, Phase::steady_step));
    return walk.peak().allocated;
}

TEST(Native, MoreRecomputeHoldsLess) {
    const Transformer model = load_model("llama-3.1-8b", {});
    Bytes before(std::numeric_limits<std::int64_t>::max());
    for (const Recompute recompute : {Recompute::none, Recompute::pointwise, Recompute::selective, Recompute::full}) {
        ParallelPlan plan = plan_for(Strategy::fsdp);
        plan.sequence_length = 8192;
        plan.recompute = recompute;
        const Bytes peak = peak_of(model, plan);
        EXPECT_LT(peak, before) << name_of(recompute);
        before = peak;
    }
}

TEST(Native, MoreShardingHoldsLess) {
    const Transformer model = load_model("mistral-7b", {});
    Bytes before(std::numeric_limits<std::int64_t>::max());
    for (const Strategy strategy : {Strategy::ddp, Strategy::zero1, Strategy::zero2, Strategy::fsdp}) {
        const Bytes peak = peak_of(model, plan_for(strategy));
        EXPECT_LT(peak, before) << name_of(strategy);
        before = peak;
    }
}

// Each rank of FSDP receives every weight twice per step (the two layers still in their slots once) and each gradient
// once; DDP moves each gradient once.
TEST(Native, CollectivesMoveWhatTheStrategySays) {
    const Transformer model = load_model("mistral-7b", {});
    const auto moved = [&](Strategy strategy, CollectiveKind kind) {
        const StepProgram program = lower(model, plan_for(strategy), Phase::steady_step);
        std::int64_t sum = 0;
        for (const Op& op : program.ops)
            if (const auto* call = std::get_if<Collective>(&op.payload); call && call->kind == kind && call->bytes > 4_B)
                sum += call->bytes.count();
        return sum;
    };
    const std::int64_t whole = held(lower(model, plan_for(Strategy::ddp), Phase::steady_step), Role::parameter).count();
    const std::int64_t layer = model.layer(0).parameter_count() * 2;
    const std::int64_t layers = layer * model.layer_count();
    EXPECT_EQ(moved(Strategy::ddp, CollectiveKind::all_reduce), whole);
    EXPECT_EQ(moved(Strategy::zero1, CollectiveKind::reduce_scatter), whole);
    EXPECT_EQ(moved(Strategy::zero1, CollectiveKind::all_gather), whole);
    EXPECT_EQ(moved(Strategy::fsdp, CollectiveKind::all_gather), whole + layers - 2 * layer);
    EXPECT_EQ(moved(Strategy::fsdp, CollectiveKind::reduce_scatter), whole);
    EXPECT_EQ(moved(Strategy::fsdp_shard_grad_op, CollectiveKind::all_gather), whole);
    EXPECT_EQ(moved(Strategy::single, CollectiveKind::all_reduce), 0);
}

}  // namespace
}  // namespace wirewise
