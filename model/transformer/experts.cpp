#include "model/transformer/experts.hpp"

#include <fmt/format.h>

namespace wirewise {

namespace {
constexpr Range kExperts{1, 65'536};
}

void read_experts(ConfigKeys& keys, Blueprint& blueprint, const ExpertKeys& names) {
    auto& expert = blueprint.expert;
    expert = blueprint.mlp;
    expert.experts = keys.integer(names.experts, kExperts);
    expert.top_k = keys.integer(names.top_k, kExperts);
    if (!names.width.empty()) expert.intermediate = keys.integer(names.width);
    if (expert.top_k > expert.experts)
        keys.refuse(names.top_k.front(),
                    fmt::format("is {}, more than the {} experts", expert.top_k, expert.experts),
                    "mend one of them");
}

void route_layers(Blueprint& blueprint, const std::function<bool(std::int64_t)>& routes) {
    for (std::size_t index = 0; index < blueprint.layers.size(); ++index)
        blueprint.layers[index].routed = routes(static_cast<std::int64_t>(index));
}

}  // namespace wirewise
