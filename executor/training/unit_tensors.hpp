// The tensors of a model under their full Hugging Face names, with their place in the flat unit layouts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/strategy/native/layout.hpp"

namespace wirewise {

struct UnitTensor {
    std::string name;  // "model.layers.0.self_attn.q_proj.weight"
    Unit unit;
    Slice slice;  // in the unit's flat buffer
    const Parameter* parameter = nullptr;
};

// Root first, then layer by layer. `model` must outlive the result.
std::vector<UnitTensor> unit_tensors(const Transformer& model, const ModelLayout& layout);

// Values that a device may draw by itself: normal ones of `deviation` from a stream of random.hpp, as
// SeededWeights draws them; without a deviation, all `constant`.
struct DrawnValues {
    double deviation = 0;
    std::uint64_t stream = 0;
    float constant = 0;
};

// Where initial weights come from: a checkpoint or a seed.
class WeightSource {
  public:
    virtual ~WeightSource() = default;
    // The values of elements [first, first + values.size()) of the tensor.
    virtual void read(const UnitTensor& tensor, std::int64_t first, std::span<float> values) const = 0;
    // The same values as a rule, where there is one.
    virtual std::optional<DrawnValues> drawn(const UnitTensor&) const { return std::nullopt; }
};

}  // namespace wirewise
