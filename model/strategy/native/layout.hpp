// How our runtime lays the tensors of a unit into one flat buffer. The gathered buffer is the set of weights
// itself and the weight gradients are written where the reduce-scatter reads them, so nothing is copied in or
// out. Tensors that one GEMM reads together (q|k|v, gate|up, and their biases) are neighbours.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "model/strategy/emission.hpp"

namespace wirewise {

// A range of elements in a unit's flat buffer.
struct Slice {
    std::int64_t offset = 0, count = 0;
    bool empty() const { return count == 0; }
};

struct FlatTensor {
    const Parameter* parameter = nullptr;
    Slice slice;
};

class UnitLayout {
  public:
    // `shards`: the flat buffer is padded so that it divides evenly.
    UnitLayout(const std::vector<const Parameter*>& parameters, int shards);

    const std::vector<FlatTensor>& tensors() const { return tensors_; }
    std::int64_t elements() const { return elements_; }  // of all tensors, padding excluded
    std::int64_t padded() const { return padded_; }      // length of the flat buffer
    bool same_as(const UnitLayout& other) const;

    // The span of all tensors with one of these uses, which must be neighbours; empty when there is none.
    Slice of(std::initializer_list<ParameterUse> uses) const;
    // The biases of the linear layers with these weights.
    Slice biases_of(std::initializer_list<ParameterUse> weights) const;
    // The index-th norm (weight) in registration order, and its bias.
    Slice norm(std::size_t index) const;
    Slice norm_bias(std::size_t index) const;
    std::size_t norm_count() const;

  private:
    std::vector<FlatTensor> tensors_;
    std::int64_t elements_ = 0, padded_ = 0;
};

// The layouts of a model: one for the root and one for each distinct layer layout.
class ModelLayout {
  public:
    ModelLayout(const Transformer& model, int shards);
    const UnitLayout& of(Unit unit) const { return unit.root() ? layouts_[0] : layouts_[class_of(unit)]; }
    std::size_t class_of(Unit unit) const {
        return unit.root() ? 0 : classes_[static_cast<std::size_t>(unit.layer)];
    }
    std::size_t class_count() const { return layouts_.size(); }
    const UnitLayout& of_class(std::size_t index) const { return layouts_[index]; }
    std::size_t layers_in_class(std::size_t index) const;

  private:
    std::vector<UnitLayout> layouts_;
    std::vector<std::size_t> classes_;
};

}  // namespace wirewise
