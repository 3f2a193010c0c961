#include "model/strategy/pytorch/tape.hpp"

#include <array>
#include <utility>

#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

Tensor Tape::leaf(WeightId weight, std::int64_t rows, std::int64_t columns, DType type) const {
    Tensor result;
    result.rows = rows;
    result.columns = columns;
    result.type = type;
    result.weight = weight;
    if (gradients) result.slot = GradientSlot::untracked;
    return result;
}

void Tape::compute(std::string_view name, const Kernel& kernel, std::initializer_list<Operands> operands) {
    if (storages.skipping) return;
    std::array<Use, 16> uses;
    std::size_t count = 0;
    for (const auto& [tensor, access] : operands)
        uses.at(count++) = tensor.weight == WeightId::none
                               ? storages.use(tensor, access)
                               : Use{owner_->readable(tensor.weight), StorageId::none, access};
    storages.compute(name, kernel, std::span<const Use>(uses.data(), count));
}

bool Tape::begin(std::initializer_list<const Tensor*> inputs, bool saves) {
    bool needed = false;
    for (const Tensor* input : inputs) needed |= input->requires_gradient();
    if (!needed) return false;
    if (recording)
        for (const Tensor* input : inputs)
            if (input->weight != WeightId::none) ++leaves_[index_of(input->weight)].uses;
    if (saves && ++save_count == stop_at_save) storages.skipping = true;
    return true;
}

void Tape::record(Tensor& result, Backward backward) {
    result.slot = GradientSlot::untracked;
    if (!recording) return;
    result.slot = static_cast<GradientSlot>(slots_.size());
    slots_.emplace_back();
    nodes_.push_back({result.slot, std::move(backward)});
}

void Tape::add_to(Tensor& sum, Tensor gradient) {
    if (!sum.defined()) {
        sum = std::move(gradient);
        return;
    }
    const Kernel add =
        vector_kernel(sum.rows, sum.columns, sum.bytes() + sum.bytes() + gradient.bytes(), sum.type);
    if (storages.sole_owner(sum) && !sum.view) {
        compute("accumulate gradient", add, {{gradient, Access::read}, {sum, Access::update}});
        return;
    }
    Tensor fresh = storages.empty("gradient sum", sum.rows, sum.columns, sum.type);
    compute("add gradients", add, {{sum, Access::read}, {gradient, Access::read}, {fresh, Access::write}});
    sum = std::move(fresh);
}

void Tape::accumulate(Target into, Tensor gradient) {
    if (into.weight == WeightId::none) return add_to(slots_[index_of(into.slot)], std::move(gradient));
    Leaf& leaf = leaves_[index_of(into.weight)];
    add_to(leaf.sum, std::move(gradient));
    if (--leaf.uses != 0) return;
    leaf.taken = true;
    owner_->take_gradient(into.weight, std::exchange(leaf.sum, {}));
}

void Tape::begin_micro_batch() {
    for (Leaf& leaf : leaves_) leaf.taken = false;
}

Tensor Tape::take(GradientSlot slot) { return std::exchange(slots_[index_of(slot)], {}); }

void Tape::run_backward_to(std::size_t position) {
    while (nodes_.size() > position) {
        Node node = std::move(nodes_.back());
        nodes_.pop_back();
        if (Tensor gradient = take(node.output); gradient.defined())
            node.backward(*this, std::move(gradient));
    }
    if (position == 0) slots_.clear();
}

}  // namespace wirewise
