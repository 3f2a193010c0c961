// Initial weights from a seed: the same values whatever the ranks and the sharding.
#pragma once

#include "executor/training/unit_tensors.hpp"

namespace wirewise {

// Hugging Face's initialisation of these families: matrices and tables normal with deviation 0.02
// (initializer_range's default), norms one, biases zero.
class SeededWeights final : public WeightSource {
  public:
    explicit SeededWeights(std::uint64_t seed) : seed_(seed) {}
    void read(const UnitTensor& tensor, std::int64_t first, std::span<float> values) const override;
    std::optional<DrawnValues> drawn(const UnitTensor& tensor) const override;

  private:
    std::uint64_t seed_;
};

}  // namespace wirewise
