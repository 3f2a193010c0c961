// ZeRO-1 and 2: all 16-bit parameters in one flat buffer, cut into equal partitions, one per rank; the buffer
// is padded to 2 elements per rank. Source: deepspeed/runtime/zero/stage_1_and_2.py, read 2026-11.
#pragma once

#include "model/strategy/pytorch/weights.hpp"

namespace wirewise {

class FlatLayout {
  public:
    FlatLayout(const WeightTable& weights, int ranks);

    struct Range {
        std::int64_t begin = 0, end = 0;
        std::int64_t count() const { return end - begin; }
    };
    std::int64_t padded() const { return padded_; }
    std::int64_t partition() const { return padded_ / ranks_; }
    Range of(WeightId weight) const { return places_[index_of(weight)]; }
    // The part of the weight that this rank updates, counted in the flat buffer; empty: none.
    Range own_part(WeightId weight) const;
    bool is_own(WeightId weight) const { return own_part(weight).count() > 0; }
    // Whole weights that reach into this rank's partition, together. "This rank" is the one for which it is
    // most.
    std::int64_t own_weights_count() const { return own_weights_count_; }
    // How many partitions the ranges of these weights touch, a run of neighbours counting once.
    int partitions_touched(const std::vector<WeightId>& weights) const;

  private:
    std::int64_t reaching_into(int rank) const;

    int ranks_;
    std::vector<Range> places_;
    std::int64_t padded_ = 0, own_weights_count_ = 0;
    int own_ = 0;
};

}  // namespace wirewise
