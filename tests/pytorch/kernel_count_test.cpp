// Launches of one steady step against profiled steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "model/strategy/pytorch/lower_pytorch.hpp"
#include "tests/pytorch/measured.hpp"

namespace wirewise {
namespace {

using nlohmann::json;

bool is_named(const Op& op, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, op.name.text) != names.end();
}

struct Counts {
    std::map<std::string, int> of;

    void count(const StepProgram& program, const Op& op) {
        if (const auto* call = std::get_if<Collective>(&op.payload)) {
            if (call->bytes > Bytes(1024)) ++of[std::string(name_of(call->kind))];
            return;
        }
        const auto* compute = std::get_if<Compute>(&op.payload);
        if (!compute) return;
        const Kernel& kernel = program.at(compute->kernel);
        if (std::holds_alternative<Gemm>(kernel)) ++of["matmuls"];
        if (std::holds_alternative<OptimizerUpdate>(kernel)) ++of["optimizer_launches"];
        if (const auto* attention = std::get_if<Attention>(&kernel))
            ++of[attention->backward ? "attention_backward" : "attention_forward"];
        if (is_named(op, {"add", "add scalar", "accumulate gradient", "add gradients"}))
            ++of["adds_into_fresh_and_in_place"];
        if (is_named(op, {"copy into bucket"})) ++of["bucket_copies"];
        if (is_named(op, {"all-gather copy-in"})) ++of["copy_in_launches"];
        if (is_named(op, {"all-gather copy-out"})) ++of["copy_out"];
        if (is_named(op, {"chunk cat"})) ++of["chunk_cat"];
    }
};

TEST(KernelCounts, OfProfiledSteps) {
    std::ifstream file(std::string(WIREWISE_FIXTURES) + "/kernel_counts.json");
    for (const json& profile : json::parse(file)) {
        const MeasuredStep& step = measured_step(profile.at("id"));
        const StepProgram program = lower_pytorch(step.model, step.plan, Phase::steady_step);
        Counts counts;
        for (const Op& op : program.ops) counts.count(program, op);
        for (const auto& [what, number] : profile.items())
            if (number.is_number()) {
                EXPECT_EQ(counts.of[what], number.get<int>()) << step.id << ": " << what;
            }
    }
}

}  // namespace
}  // namespace wirewise
