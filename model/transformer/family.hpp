// One architecture: how its config spells things, what its class assumes, and its tables of tensors.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "model/transformer/config_keys.hpp"
#include "model/transformer/layout.hpp"

namespace wirewise {

struct Blueprint;

// How the config spells each dimension. Where there are several spellings, the class's own name comes first.
struct FamilySpelling {
    Spellings hidden{"hidden_size"}, layers{"num_hidden_layers"}, heads{"num_attention_heads"};
    Spellings kv_heads{"num_key_value_heads"}, intermediate{"intermediate_size"};
    Spellings max_position{"max_position_embeddings"}, epsilon{"rms_norm_eps"}, activation{"hidden_act"};
    Spellings embedding_dropout{}, residual_dropout{};  // empty: the class has none
};

// What the configuration class assumes for an absent key. 0: no safe default, the key is compulsory.
struct FamilyDefaults {
    std::int64_t hidden = 0, layers = 0, heads = 0, vocabulary = 0, intermediate = 0;
    std::int64_t intermediate_factor = 0;  // intermediate = this x hidden
    std::int64_t kv_heads = 0;             // 0: as many as heads
    std::int64_t head_dim = 0;             // 0: hidden / heads
    std::int64_t max_position = 2048;
    bool tied = false;
    double epsilon = 1e-6, rope_theta = 10000, dropout = 0;
    std::string_view activation = "silu";
};

// A trait decided by a key of the config (or, without a key, by the family).
struct Switch {
    Traits trait;
    std::string_view key;
    bool fallback;
};

// Where the head dimension comes from: a head_dim key where present, always hidden / heads, or keys of MLA.
enum class HeadDimension : std::uint8_t { key, quotient, latent };

struct Family {
    std::string_view model_type{}, config_class{};
    FamilySpelling spelling{};
    FamilyDefaults defaults{};
    HeadDimension head_dimension = HeadDimension::key;
    NormKind norm = NormKind::rms;
    PositionKind position = PositionKind::rotary;
    bool gated = true, parallel_block = false, pre_norms = true, post_norms = false;
    bool mixture = false;  // has routed experts
    ModuleForm form{};
    std::int64_t extra_positions = 0;  // rows of the position table beyond the longest sequence
    Traits traits = trait::always;     // true of every model of the family
    std::vector<Switch> switches{};
    Rows before{}, layer{}, after{};  // tables of the root (before and after the layers) and of a layer
    std::string_view layers_module = "model.layers";
    // What the tables cannot say: windows, experts, odd keys. Called once the common keys are read.
    std::function<void(ConfigKeys&, Blueprint&)> refine{};
};

// The family of a model_type; null when it is not modelled.
const Family* find_family(std::string_view model_type);

// Every family, in a stable order.
const std::vector<Family>& all_families();

// Why a known model_type that is no family is refused ("an encoder: ..."); empty for an unknown one.
std::string_view reason_not_modelled(std::string_view model_type);

}  // namespace wirewise
