// DDP's buckets. The first iteration has one bucket of the whole gradient (find_unused_parameters False); at
// the second forward it is replaced by buckets of at least 1 MiB (the first) and 25 MiB in the order the
// gradients came. Source: torch/csrc/distributed/c10d/reducer.cpp, torch/nn/parallel/distributed.py (2.11).
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

struct Bucket {
    BufferId buffer{};
    std::vector<WeightId> weights;
};

class Buckets {
  public:
    explicit Buckets(PytorchContext& context);

    // Where a weight's gradient lies in the current buckets.
    struct Place {
        std::size_t bucket = 0;
        Bytes offset, bytes;
    };
    const Place& place(WeightId weight) const { return places_[index_of(weight)]; }
    const std::vector<Bucket>& current() const { return rebuilt_in_use_ ? rebuilt_ : first_; }
    BufferId first_buffer() const { return first_.front().buffer; }
    std::vector<BufferId> rebuilt_buffers() const;
    bool rebuilt_in_use() const { return rebuilt_in_use_; }
    void use_rebuilt();

  private:
    void declare(std::vector<Bucket>& buckets, const std::vector<WeightId>& order, bool limited);
    void find_places();
    Bytes bytes(WeightId weight) const;

    PytorchContext& context_;
    std::vector<Bucket> first_, rebuilt_;
    std::vector<Place> places_;
    bool rebuilt_in_use_ = false;
};

}  // namespace wirewise
