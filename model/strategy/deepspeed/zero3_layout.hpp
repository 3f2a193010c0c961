// ZeRO-3: every parameter cut into equal parts, one per rank, all own parts in one flat buffer; parameters of
// at most param_persistence_threshold elements are also kept whole. The optimizer works on sub-groups of
// parameters. Source: deepspeed/runtime/zero/{partition_parameters,stage3}.py, read 2026-11.
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

struct Zero3Weight {
    std::int64_t count = 0;      // of the whole parameter
    std::int64_t own_count = 0;  // of this rank's part, padded
    std::int64_t offset = 0;     // of the part in the flat buffer
    bool persists = false;
};

struct SubGroup {
    std::int64_t offset = 0, count = 0;  // in the flat buffer
};

class Zero3Layout {
  public:
    explicit Zero3Layout(const PytorchContext& context);

    int ranks() const { return ranks_; }
    const Zero3Weight& of(WeightId weight) const { return weights_[index_of(weight)]; }
    std::span<const Zero3Weight> all() const { return weights_; }
    std::int64_t own_count() const { return own_count_; }
    std::span<const SubGroup> sub_groups() const { return sub_groups_; }

  private:
    int ranks_;
    std::vector<Zero3Weight> weights_;
    std::vector<SubGroup> sub_groups_;
    std::int64_t own_count_ = 0;
};

// The modules that own weights (a bias goes with its weight), and the order in which one forward and backward
// use them.
class ModuleTrace {
  public:
    explicit ModuleTrace(const PytorchContext& context);

    std::size_t module_of(WeightId weight) const { return module_of_[index_of(weight)]; }
    const std::vector<WeightId>& weights_of(std::size_t module) const { return modules_[module]; }
    std::span<const std::size_t> order() const { return order_; }

  private:
    void find_modules(const WeightTable& weights);
    void find_order(const PytorchContext& context);
    std::vector<std::size_t> modules_of(std::span<const WeightId> weights) const;

    std::vector<std::vector<WeightId>> modules_;
    std::vector<std::size_t> module_of_;
    std::vector<std::size_t> order_;
};

}  // namespace wirewise
