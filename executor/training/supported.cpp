#include "executor/training/supported.hpp"

#include <algorithm>
#include <array>

#include "executor/training/convert.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

constexpr std::array<std::string_view, 4> kFamilies{"llama", "mistral", "qwen2", "qwen3"};

void check_dtype(DType type, const char* option) {
    if (!is_floating(type))
        throw InputError(option, std::string(name_of(type)) + " is priced, not computed",
                         "write fp32, bf16 or fp16");
}

}  // namespace

void ensure_computed(const Transformer& model, const ParallelPlan& plan) {
    if (std::find(kFamilies.begin(), kFamilies.end(), model.model_type) == kFamilies.end())
        throw InputError("--model", "model_type \"" + model.model_type + "\" is priced, not computed",
                         "run a llama, mistral, qwen2 or qwen3 model");
    if (plan.runtime != Runtime::native)
        throw InputError("--runtime", std::string(name_of(plan.runtime)) + " is priced, not run",
                         "write native");
    if (plan.optimizer != OptimizerKind::adamw_fused && plan.optimizer != OptimizerKind::adamw_foreach)
        throw InputError("--optimizer", std::string(name_of(plan.optimizer)) + " is priced, not computed",
                         "write adamw_fused");
    check_dtype(plan.precision.parameter, "--parameter-dtype");
    check_dtype(plan.precision.gradient, "--gradient-dtype");
    check_dtype(plan.precision.reduce, "--reduce-dtype");
    check_dtype(plan.precision.compute, "--compute-dtype");
    check_dtype(plan.precision.optimizer_state, "--optimizer-state-dtype");
    if (model.max_position > 0 && plan.sequence_length > model.max_position)
        throw InputError("--sequence-length", "is beyond the model's max_position_embeddings",
                         "write at most " + std::to_string(model.max_position));
    if (plan.sequence_length < 2)
        throw InputError("--sequence-length", "leaves no token to predict", "write at least 2");
}

}  // namespace wirewise
