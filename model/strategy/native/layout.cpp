#include "model/strategy/native/layout.hpp"

#include <algorithm>

#include "model/units/error.hpp"

namespace wirewise {

namespace {

// Every group of tensors starts on 256 bytes of bf16, which all kernels and NCCL accept.
constexpr std::int64_t kAlignment = 128;

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

// Tensors with equal group are packed without gaps: one GEMM reads them together.
int group_of(ParameterUse use) {
    switch (use) {
        case ParameterUse::query:
        case ParameterUse::key:
        case ParameterUse::value:
        case ParameterUse::query_key_value:
            return 0;
        case ParameterUse::attention_output:
            return 1;
        case ParameterUse::gate:
        case ParameterUse::up:
        case ParameterUse::gate_up:
            return 2;
        case ParameterUse::down:
            return 3;
        case ParameterUse::expert_gate:
        case ParameterUse::expert_up:
        case ParameterUse::expert_gate_up:
            return 4;
        case ParameterUse::expert_down:
            return 5;
        case ParameterUse::shared_gate:
        case ParameterUse::shared_up:
        case ParameterUse::shared_gate_up:
            return 6;
        case ParameterUse::bias:
            return 7;
        default:
            return 8 + static_cast<int>(use);
    }
}

void extend(Slice& whole, Slice part) {
    if (whole.empty()) {
        whole = part;
        return;
    }
    ensure(part.offset == whole.offset + whole.count, "tensors of one GEMM are not neighbours");
    whole.count += part.count;
}

}  // namespace

UnitLayout::UnitLayout(const std::vector<const Parameter*>& parameters, int shards) {
    for (const Parameter* parameter : parameters) tensors_.push_back({parameter, {0, parameter->count()}});
    std::stable_sort(tensors_.begin(), tensors_.end(), [](const FlatTensor& a, const FlatTensor& b) {
        return std::pair(group_of(a.parameter->use), group_of(a.parameter->owner)) <
               std::pair(group_of(b.parameter->use), group_of(b.parameter->owner));
    });
    int group = -1;
    for (FlatTensor& tensor : tensors_) {
        const int own = group_of(tensor.parameter->use);
        if (own != group) padded_ = rounded_up(padded_, kAlignment);
        group = own;
        tensor.slice.offset = padded_;
        padded_ += tensor.slice.count;
        elements_ += tensor.slice.count;
    }
    padded_ = rounded_up(padded_, kAlignment * shards);
}

bool UnitLayout::same_as(const UnitLayout& other) const {
    return padded_ == other.padded_ &&
           std::equal(tensors_.begin(), tensors_.end(), other.tensors_.begin(), other.tensors_.end(),
                      [](const FlatTensor& a, const FlatTensor& b) {
                          return a.parameter->use == b.parameter->use && a.slice.offset == b.slice.offset &&
                                 a.slice.count == b.slice.count;
                      });
}

Slice UnitLayout::of(std::initializer_list<ParameterUse> uses) const {
    Slice whole;
    for (const FlatTensor& tensor : tensors_)
        if (std::find(uses.begin(), uses.end(), tensor.parameter->use) != uses.end())
            extend(whole, tensor.slice);
    return whole;
}

Slice UnitLayout::biases_of(std::initializer_list<ParameterUse> weights) const {
    Slice whole;
    for (const FlatTensor& tensor : tensors_)
        if (tensor.parameter->use == ParameterUse::bias &&
            std::find(weights.begin(), weights.end(), tensor.parameter->owner) != weights.end())
            extend(whole, tensor.slice);
    return whole;
}

Slice UnitLayout::norm(std::size_t index) const {
    for (const FlatTensor& tensor : tensors_)
        if (tensor.parameter->use == ParameterUse::norm && index-- == 0) return tensor.slice;
    return {};
}

Slice UnitLayout::norm_bias(std::size_t index) const {
    for (const FlatTensor& tensor : tensors_)
        if (tensor.parameter->use == ParameterUse::norm_bias && index-- == 0) return tensor.slice;
    return {};
}

std::size_t UnitLayout::norm_count() const {
    return static_cast<std::size_t>(
        std::count_if(tensors_.begin(), tensors_.end(),
                      [](const FlatTensor& tensor) { return tensor.parameter->use == ParameterUse::norm; }));
}

ModelLayout::ModelLayout(const Transformer& model, int shards) {
    const auto pointers = [](std::span<const Parameter> first, std::span<const Parameter> second) {
        std::vector<const Parameter*> all;
        for (const Parameter& parameter : first) all.push_back(&parameter);
        for (const Parameter& parameter : second) all.push_back(&parameter);
        return all;
    };
    layouts_.emplace_back(pointers(model.root_before, model.root_after), shards);
    std::vector<std::size_t> class_of_kind;
    for (const Layer& kind : model.kinds) {
        UnitLayout layout(pointers(kind.parameters, {}), shards);
        std::size_t known = 1;
        while (known < layouts_.size() && !layouts_[known].same_as(layout)) ++known;
        if (known == layouts_.size()) layouts_.push_back(std::move(layout));
        class_of_kind.push_back(known);
    }
    for (const std::uint16_t kind : model.layers) classes_.push_back(class_of_kind[kind]);
}

std::size_t ModelLayout::layers_in_class(std::size_t index) const {
    return static_cast<std::size_t>(std::count(classes_.begin(), classes_.end(), index));
}

}  // namespace wirewise
