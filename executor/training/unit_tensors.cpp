#include "executor/training/unit_tensors.hpp"

#include <fmt/format.h>

namespace wirewise {

std::vector<UnitTensor> unit_tensors(const Transformer& model, const ModelLayout& layout) {
    std::vector<UnitTensor> all;
    const auto append = [&](Unit unit, const std::string& prefix) {
        for (const FlatTensor& tensor : layout.of(unit).tensors())
            all.push_back({prefix + tensor.parameter->name, unit, tensor.slice, tensor.parameter});
    };
    append(Unit{}, "");
    for (std::int32_t layer = 0; layer < model.layer_count(); ++layer)
        append({layer}, fmt::format("{}.{}.", model.layers_module, layer));
    return all;
}

}  // namespace wirewise
