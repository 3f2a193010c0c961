#include "model/transformer/blueprint.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "model/transformer/rope.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {
constexpr Range kLayers{1, 10'000}, kHeads{1, 65'536}, kHeadDim{1, 65'536}, kWidth{1, std::int64_t{1} << 24};
constexpr Range kVocabulary{1, std::int64_t{1} << 28}, kPositions{1, std::int64_t{1} << 40};

// Compulsory unless the class's own default is what real files rely on.
std::int64_t size(ConfigKeys& keys, const Spellings& names, std::int64_t fallback, const Family& family,
                  Range range) {
    if (fallback == 0) return keys.integer(names, range);
    return keys.integer_or(names, fallback, class_default(family), range);
}

std::int64_t intermediate_of(ConfigKeys& keys, const Family& family, std::int64_t hidden) {
    const auto& names = family.spelling.intermediate;
    if (names.empty()) return family.defaults.intermediate_factor * hidden;
    if (family.defaults.intermediate_factor == 0)
        return size(keys, names, family.defaults.intermediate, family, kWidth);
    return keys.integer_or(names, family.defaults.intermediate_factor * hidden,
                           fmt::format("{} x hidden size", family.defaults.intermediate_factor), kWidth);
}

std::int64_t head_dim_of(ConfigKeys& keys, const Family& family, std::int64_t hidden, std::int64_t heads) {
    if (family.head_dimension == HeadDimension::key) {
        if (const auto given = keys.optional_integer({"head_dim"}, kHeadDim)) return *given;
        if (family.defaults.head_dim > 0)
            return keys.integer_or({"head_dim"}, family.defaults.head_dim, class_default(family));
    }
    if (family.head_dimension == HeadDimension::latent) return 1;  // its family reads the parts
    const auto name = family.spelling.heads.front();
    if (hidden % heads != 0)
        keys.refuse(name, fmt::format("is {}, which does not divide the hidden size {}", heads, hidden),
                    family.head_dimension == HeadDimension::key ? "mend one of them or write head_dim"
                                                                : "mend one of them");
    if (family.head_dimension == HeadDimension::key)
        keys.note_default("head_dim", fmt::to_string(hidden / heads), "hidden_size / num_attention_heads");
    return hidden / heads;
}

// Null means as many as heads in every class; an absent key means the class's own default.
std::int64_t kv_heads_of(ConfigKeys& keys, const Family& family, std::int64_t heads) {
    const auto& names = family.spelling.kv_heads;
    if (names.empty()) return heads;
    const bool constant = family.defaults.kv_heads > 0 && !keys.is_null(names);
    const auto kv_heads =
        constant ? keys.integer_or(names, family.defaults.kv_heads, class_default(family), kHeads)
                 : keys.integer_or(names, heads, "num_attention_heads", kHeads);
    if (heads % kv_heads != 0)
        keys.refuse(
            names.front(),
            fmt::format("{} {}, which does not divide the {} attention heads",
                        keys.value(names) ? "is" : "is missing, and the class assumes", kv_heads, heads),
            "write a divisor of the heads, or null for as many");
    return kv_heads;
}

// Kept out of what was defaulted unless the class drops out on its own.
bool drops_out(ConfigKeys& keys, const Family& family, const Spellings& names) {
    if (names.empty()) return false;
    const auto* given = keys.value(names);
    if (!given && family.defaults.dropout == 0) return false;
    if (given && given->is_number() && given->get<double>() == 0) return false;
    return keys.number_or(names, family.defaults.dropout, class_default(family)) > 0;
}

// transformers' classes that write GELU out; the others call one kernel.
bool is_chained(std::string_view activation) {
    return activation == "gelu_new" || activation == "gelu_fast" || activation == "quick_gelu";
}

Activation activation_named(const ConfigKeys& keys, std::string_view key, const std::string& name) {
    if (name == "silu" || name == "swish") return Activation::silu;
    if (name == "gelu") return Activation::gelu;
    if (name.starts_with("gelu_") || name == "quick_gelu") return Activation::gelu_tanh;
    if (name == "relu") return Activation::relu;
    if (name == "relu2") return Activation::relu_squared;
    keys.refuse(key, fmt::format("\"{}\" is not an activation that is modelled", name),
                "write silu, gelu, gelu_pytorch_tanh, gelu_new, relu or relu2");
}

Activation read_activation(ConfigKeys& keys, const Family& family, ModuleForm& form) {
    const auto& names = family.spelling.activation;
    const auto& fallback = family.defaults.activation;
    if (names.empty()) return activation_named(keys, "activation", std::string(fallback));
    const std::string name = keys.text_or(names, fallback, class_default(family));
    form.chained_activation = is_chained(name);
    return activation_named(keys, names.front(), name);
}

void read_stored_dtype(const ConfigKeys& keys, Transformer& model) {
    for (auto name : {"torch_dtype", "dtype"}) {
        const std::string text = keys.outer_text(name);
        if (!text.empty())
            model.stored_dtype = dtype_from(text.starts_with("torch.") ? text.substr(6) : text);
    }
    if (keys.value_or_outer("quantization_config"))
        model.notes.push_back(
            "quantization_config is present: the checkpoint is stored quantised, training uses the "
            "dtypes of the plan");
}

void read_widths(ConfigKeys& keys, const Family& family, Blueprint& blueprint) {
    const auto& names = family.spelling;
    auto& widths = blueprint.widths;
    auto& attention = blueprint.attention;
    const auto hidden = size(keys, names.hidden, family.defaults.hidden, family, kWidth);
    attention.heads = size(keys, names.heads, family.defaults.heads, family, kHeads);
    attention.head_dim = attention.value_head_dim = head_dim_of(keys, family, hidden, attention.heads);
    attention.kv_heads = kv_heads_of(keys, family, attention.heads);
    widths[Width::hidden] = widths[Width::embedding] = hidden;
    widths[Width::vocabulary] = size(keys, {"vocab_size"}, family.defaults.vocabulary, family, kVocabulary);
    blueprint.mlp.intermediate = intermediate_of(keys, family, hidden);
    blueprint.layers.resize(
        static_cast<std::size_t>(size(keys, names.layers, family.defaults.layers, family, kLayers)));
}

bool read_tied(ConfigKeys& keys, const Family& family) {
    if (!keys.has("tie_word_embeddings") && keys.value_or_outer("tie_word_embeddings"))
        return keys.outer_flag("tie_word_embeddings");
    return keys.flag_or("tie_word_embeddings", family.defaults.tied, class_default(family));
}

void read_scalars(ConfigKeys& keys, const Family& family, Blueprint& blueprint) {
    auto& model = blueprint.model;
    model.model_type = family.model_type;
    model.norm = family.norm;
    model.form = family.form;
    model.position = family.position;
    model.layers_module = family.layers_module;
    if (!family.spelling.max_position.empty())
        model.max_position = keys.integer_or(family.spelling.max_position, family.defaults.max_position,
                                             class_default(family), kPositions);
    model.tied_embeddings = read_tied(keys, family);
    model.norm_epsilon =
        family.spelling.epsilon.empty()
            ? family.defaults.epsilon
            : keys.number_or(family.spelling.epsilon, family.defaults.epsilon, class_default(family));
    blueprint.mlp.gated = family.gated;
    blueprint.mlp.activation = read_activation(keys, family, model.form);
    model.dropout.embedding = drops_out(keys, family, family.spelling.embedding_dropout);
    model.dropout.residual = drops_out(keys, family, family.spelling.residual_dropout);
    if (model.position == PositionKind::rotary) read_rope(keys, family, blueprint);
    read_stored_dtype(keys, model);
}

void read_switches(ConfigKeys& keys, const Family& family, Blueprint& blueprint) {
    blueprint.traits = family.traits;
    if (family.norm != NormKind::layer_without_parameters) blueprint.traits |= trait::norm_weight;
    for (const auto& entry : family.switches) {
        const bool on = keys.flag_or(entry.key, entry.fallback, class_default(family));
        if (on) blueprint.traits |= entry.trait;
    }
}
}  // namespace

Blueprint read_blueprint(const Family& family, ConfigKeys& keys) {
    Blueprint blueprint;
    blueprint.family = &family;
    read_widths(keys, family, blueprint);
    read_scalars(keys, family, blueprint);
    read_switches(keys, family, blueprint);
    blueprint.parallel_block = family.parallel_block;
    blueprint.pre_norms = family.pre_norms;
    blueprint.post_norms = family.post_norms;
    if (family.refine) family.refine(keys, blueprint);
    return blueprint;
}

}  // namespace wirewise
