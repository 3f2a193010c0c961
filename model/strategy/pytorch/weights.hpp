// The model's weights as PyTorch numbers them: parameters() order, which is module registration order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/strategy/emission.hpp"
#include "model/strategy/pytorch/tensor.hpp"

namespace wirewise {

// A parameter as the matrix its kernels see: [out, in]; a vector is [1, n]; stacked experts are [experts *
// out, in].
struct Weight {
    const Parameter* parameter = nullptr;
    Unit unit;
    std::int64_t rows = 1, columns = 0;
    std::int64_t count() const { return rows * columns; }
    // How many slices dim 0 has: FSDP2 shards along it.
    std::int64_t outer() const { return parameter->shape.empty() ? 1 : parameter->shape.front(); }
};

class WeightTable {
  public:
    explicit WeightTable(const Transformer& model);

    std::size_t size() const { return weights_.size(); }
    const Weight& at(WeightId id) const { return weights_[index_of(id)]; }
    std::span<const Weight> all() const { return weights_; }
    // A unit's weights in registration order.
    std::vector<WeightId> of(Unit unit) const;

    // The nth weight of a layer (or of the root) with this use.
    std::optional<WeightId> find(Unit unit, ParameterUse use, int nth = 0) const;
    std::optional<WeightId> find_bias(Unit unit, ParameterUse owner) const;

  private:
    void add(const std::vector<Parameter>& parameters, Unit unit);
    template <class Matches>
    std::optional<WeightId> find_if(Unit unit, Matches&& matches) const;

    std::vector<Weight> weights_;
    std::vector<std::size_t> first_of_layer_;  // one more than layers; what lies outside is the root's
};

}  // namespace wirewise
