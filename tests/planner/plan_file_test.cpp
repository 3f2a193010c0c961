// --plan-out: what is written reads back as the same values; what is wrong is named.
#include "simulator/planner/plan_file.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/units/error.hpp"

namespace wirewise {
namespace {

PlanFile example() {
    PlanFile file{"mistral-7b", {"num_hidden_layers=8"}, "h200-x2", 1, {1, 0}, {"NCCL_NVLS_ENABLE=0"}, 0, {}};
    file.plan.strategy = Strategy::hsdp;
    file.plan.mesh = {.replicate = 2, .shard = 4};
    file.plan.precision.optimizer_state = DType::bf16;
    file.plan.precision.master_weights = true;
    file.plan.optimizer = OptimizerKind::adamw_8bit;
    file.plan.recompute = Recompute::full;
    file.plan.no_sync = false;
    file.plan.gradient_accumulation = 7;
    file.plan.seed = 0xFFFF'FFFF'FFFF'FFFF;
    return file;
}

TEST(PlanFile, RoundTrips) { EXPECT_EQ(plan_file_from_json(to_json(example()), "plan.json"), example()); }

TEST(PlanFile, RoundTripsThroughText) {
    const auto text = to_json(example()).dump(2);
    EXPECT_EQ(plan_file_from_json(nlohmann::ordered_json::parse(text), "plan.json"), example());
}

TEST(PlanFile, EveryKeyIsNeeded) {
    const auto whole = to_json(example());
    for (const auto& [key, value] : whole.items()) {
        auto json = whole;
        json.erase(key);
        EXPECT_THROW(plan_file_from_json(json, "plan.json"), InputError) << key;
    }
}

TEST(PlanFile, WrongValuesAreNamed) {
    auto json = to_json(example());
    json["micro_batch"] = 0;
    try {
        plan_file_from_json(json, "plan.json");
        FAIL() << "0 was taken";
    } catch (const InputError& error) {
        EXPECT_EQ(error.place(), "plan.json:/micro_batch");
    }
    json = to_json(example());
    json["nodes"] = 1e30;
    EXPECT_THROW(plan_file_from_json(json, "plan.json"), InputError);
    json = to_json(example());
    json["clip_gradients"] = true;
    EXPECT_THROW(plan_file_from_json(json, "plan.json"), InputError) << "clipping to nothing";
    json = to_json(example());
    json["seed"] = -1;
    EXPECT_THROW(plan_file_from_json(json, "plan.json"), InputError);
    json = to_json(example());
    json["strategy"] = "zero9";
    EXPECT_THROW(plan_file_from_json(json, "plan.json"), InputError);
}

TEST(PlanFile, AMeshThatIsNotTheStrategysIsRefused) {
    const auto refused = [](const char* strategy, const char* axis, std::int64_t ranks) {
        auto json = to_json(example());
        json["strategy"] = strategy;
        json["mesh"] = {{"replicate", 1}, {"shard", 1},   {"tensor", 1},
                        {"pipeline", 1},  {"context", 1}, {"expert", 1}};
        json["mesh"][axis] = ranks;
        try {
            plan_file_from_json(json, "plan.json");
            return false;
        } catch (const InputError& error) {
            return error.place().starts_with("plan.json:/mesh");
        }
    };
    EXPECT_TRUE(refused("single", "shard", 2));
    EXPECT_TRUE(refused("ddp", "shard", 2));
    EXPECT_TRUE(refused("fsdp", "replicate", 2));
    EXPECT_TRUE(refused("fsdp", "tensor", 2));
    EXPECT_TRUE(refused("fsdp", "shard", std::int64_t{1} << 32));  // not 0 after a cast
    EXPECT_FALSE(refused("fsdp", "shard", 2));
    EXPECT_FALSE(refused("ddp", "replicate", 2));
}

}  // namespace
}  // namespace wirewise
