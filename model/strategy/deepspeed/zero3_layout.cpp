#include "model/strategy/deepspeed/zero3_layout.hpp"

#include <algorithm>

namespace wirewise {

Zero3Layout::Zero3Layout(const PytorchContext& context) : ranks_(context.plan().mesh.shard) {
    const DeepSpeedSettings& settings = context.plan().deepspeed;
    SubGroup group;
    const auto close = [&] {
        if (group.count > 0) sub_groups_.push_back(group);
        group = {own_count_, 0};
    };
    for (const Weight& weight : context.weights.all()) {
        const std::int64_t own = (weight.count() + ranks_ - 1) / ranks_;
        const bool gathers = ranks_ > 1 || context.plan().offload.parameters;
        weights_.push_back({weight.count(), own, own_count_,
                            gathers && weight.count() <= settings.param_persistence_threshold});
        own_count_ += own;
        group.count += own;
        if (group.count >= settings.sub_group_size) close();
    }
    close();
}

ModuleTrace::ModuleTrace(const PytorchContext& context) : module_of_(context.weights.size()) {
    find_modules(context.weights);
    find_order(context);
}

void ModuleTrace::find_modules(const WeightTable& weights) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto id = static_cast<WeightId>(i);
        const Parameter& parameter = *weights.at(id).parameter;
        const bool bias = parameter.use == ParameterUse::bias;
        std::size_t module = modules_.size();
        for (std::size_t j = i; bias && module == modules_.size() && j-- > 0;) {
            const Weight& other = weights.all()[j];
            if (other.unit.layer != weights.at(id).unit.layer) break;
            if (other.parameter->use == parameter.owner) module = module_of_[j];
        }
        if (module == modules_.size()) modules_.emplace_back();
        modules_[module].push_back(id);
        module_of_[i] = module;
    }
}

// Each module once, in the order of its first weight.
std::vector<std::size_t> ModuleTrace::modules_of(std::span<const WeightId> weights) const {
    std::vector<std::size_t> found;
    for (const WeightId weight : weights)
        if (std::find(found.begin(), found.end(), module_of(weight)) == found.end())
            found.push_back(module_of(weight));
    return found;
}

void ModuleTrace::find_order(const PytorchContext& context) {
    const std::vector<WeightId> root = context.weights.of(Unit{});
    const std::span all(root);
    const std::size_t before = context.model().root_before.size();
    const std::vector<std::size_t> first = modules_of(all.first(before));
    std::vector<std::size_t> last = modules_of(all.subspan(before));
    if (!context.weights.find(Unit{}, ParameterUse::head))
        if (const auto table = context.weights.find(Unit{}, ParameterUse::embedding))
            last.push_back(module_of(*table));
    const auto append = [&](const std::vector<std::size_t>& modules, bool backwards) {
        if (backwards)
            order_.insert(order_.end(), modules.rbegin(), modules.rend());
        else
            order_.insert(order_.end(), modules.begin(), modules.end());
    };
    const auto layer = [&](std::int64_t index) {
        return modules_of(context.weights.of(Unit{static_cast<std::int32_t>(index)}));
    };
    append(first, false);
    for (std::int64_t i = 0; i < context.model().layer_count(); ++i) append(layer(i), false);
    append(last, false);
    append(last, true);
    for (std::int64_t i = context.model().layer_count(); i-- > 0;) {
        if (context.plan().recompute == Recompute::full) append(layer(i), false);
        append(layer(i), true);
    }
    append(first, true);
}

}  // namespace wirewise
