#include "tools/run/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/program/hash.hpp"
#include "model/program/program.hpp"
#include "model/strategy/lower.hpp"
#include "tools/run/run_report.hpp"

namespace wirewise {

namespace {

std::string hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

template <class Value>
std::string hash_of_all(const std::vector<Value>& values) {
    Hash hash;
    for (const Value value : values) hash.add(value);
    return hex(hash.value());
}

std::string first_batch(const RunInputs& inputs) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(inputs.batch.tokens()));
    inputs.tokens->read(0, inputs.batch, tokens);
    return hash_of_all(tokens);
}

// The first values of every tensor.
std::string some_of(const WeightSource& weights, const std::vector<UnitTensor>& tensors) {
    constexpr std::int64_t kMost = 16;
    std::vector<std::uint32_t> all;
    for (const UnitTensor& tensor : tensors) {
        std::vector<float> values(static_cast<std::size_t>(std::min(kMost, tensor.slice.count)));
        weights.read(tensor, 0, values);
        for (const float value : values) all.push_back(std::bit_cast<std::uint32_t>(value));
    }
    return hash_of_all(all);
}

std::string config_hash(const std::string& config) {
    return hash_of_all(std::vector<char>(config.begin(), config.end()));
}

}  // namespace

std::vector<Fact> facts_of(const RunInputs& inputs, const Backend& backend, const WeightSource& weights,
                           const std::vector<UnitTensor>& tensors) {
    std::vector<Fact> facts = backend.facts();
    const Json described = run_inputs_json(inputs, backend);
    for (const auto& [name, value] : described.items()) facts.push_back({name, value.dump()});
    const Hyperparameters& numbers = inputs.numbers;
    facts.push_back({"learning rate, betas, epsilon, weight decay, max grad norm, stochastic rounding",
                     fmt::format("{}, {}, {}, {}, {}, {}, {}", numbers.learning_rate, numbers.beta1,
                                 numbers.beta2, numbers.epsilon, numbers.weight_decay,
                                 numbers.max_gradient_norm, numbers.stochastic_rounding)});
    facts.push_back({"hash of the config", config_hash(inputs.config)});
    facts.push_back(
        {"hash of the plan's program", hex(hash_of(lower(inputs.model, inputs.plan, Phase::steady_step)))});
    facts.push_back({"hash of the first batch", first_batch(inputs)});
    facts.push_back({"hash of the weights", some_of(weights, tensors)});
    return facts;
}

}  // namespace wirewise
