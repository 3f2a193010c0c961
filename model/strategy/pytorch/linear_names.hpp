// How people know the matmuls of a layer.
#pragma once

#include "model/strategy/pytorch/ops.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

inline eager::LinearNames linear_names(ParameterUse use) {
    switch (use) {
        case ParameterUse::query:
            return {"q_proj", "q_proj data gradient", "q_proj weight gradient"};
        case ParameterUse::key:
            return {"k_proj", "k_proj data gradient", "k_proj weight gradient"};
        case ParameterUse::value:
            return {"v_proj", "v_proj data gradient", "v_proj weight gradient"};
        case ParameterUse::query_key_value:
            return {"qkv_proj", "qkv_proj data gradient", "qkv_proj weight gradient"};
        case ParameterUse::attention_output:
            return {"o_proj", "o_proj data gradient", "o_proj weight gradient"};
        case ParameterUse::gate:
            return {"gate_proj", "gate_proj data gradient", "gate_proj weight gradient"};
        case ParameterUse::up:
            return {"up_proj", "up_proj data gradient", "up_proj weight gradient"};
        case ParameterUse::gate_up:
            return {"gate_up_proj", "gate_up_proj data gradient", "gate_up_proj weight gradient"};
        case ParameterUse::down:
            return {"down_proj", "down_proj data gradient", "down_proj weight gradient"};
        case ParameterUse::head:
        case ParameterUse::embedding:
            return {"lm_head", "lm_head data gradient", "lm_head weight gradient"};
        case ParameterUse::router:
            return {"router", "router data gradient", "router weight gradient"};
        default:
            return {"linear", "linear data gradient", "linear weight gradient"};
    }
}

}  // namespace wirewise
