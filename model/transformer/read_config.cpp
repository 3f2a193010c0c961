#include "model/transformer/read_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "model/transformer/blueprint.hpp"

namespace wirewise {

using nlohmann::json;

namespace {
// Wrappers of which the text part is a family of its own.
constexpr std::string_view kTextWrappers[] = {"gemma3", "llama4", "mistral3"};

// Keys that say: this is not the plain architecture of its model_type.
struct Forbidden {
    std::string_view key, why;
};
constexpr Forbidden kForbidden[] = {
    {"block_configs", "gives each layer a shape of its own"},
    {"index_topk", "adds a sparse-attention indexer"},
    {"hybrid_override_pattern", "mixes state-space layers in"},
    {"layers_block_type", "mixes other layer types in"},
    {"attn_layer_period", "mixes state-space layers in"},
    {"mamba_d_state", "mixes state-space layers in"},
    {"ssm_cfg", "is a state-space model's"},
    {"encoder_layers", "is an encoder-decoder's"},
    {"num_decoder_layers", "is an encoder-decoder's"},
};

[[noreturn]] void not_modelled(const std::string& place, std::string why) {
    throw UnsupportedModel(place, std::move(why),
                           "use a decoder-only model, or describe this one as the nearest supported family");
}

std::string model_type_of(const json& object, const std::string& place) {
    const auto found = object.find("model_type");
    if (found == object.end() || found->is_null())
        throw InputError(place + "/model_type", "is missing",
                         "write the architecture, e.g. \"model_type\": \"llama\"");
    if (!found->is_string())
        throw InputError(place + "/model_type", "is not a string", "write e.g. \"model_type\": \"llama\"");
    return found->get<std::string>();
}

std::string near_families(std::string_view model_type) {
    std::vector<std::string> near;
    if (model_type.size() < 3) return {};
    for (const auto& family : all_families())
        if (family.model_type.starts_with(model_type.substr(0, 3))) near.emplace_back(family.model_type);
    return near.empty() ? std::string() : fmt::format(" (near: {})", fmt::join(near, ", "));
}

const Family& family_of(const std::string& model_type, const std::string& place) {
    if (const Family* family = find_family(model_type)) return *family;
    const std::string_view reason = reason_not_modelled(model_type);
    const std::string shown = model_type.substr(0, 60);
    if (!reason.empty())
        not_modelled(place + "/model_type", fmt::format("\"{}\" is not modelled: {}", shown, reason));
    not_modelled(place + "/model_type", fmt::format("\"{}\" is an architecture that is not modelled{}", shown,
                                                    near_families(model_type)));
}

bool above_one(const json& value) { return value.is_number_integer() && value.get<std::int64_t>() > 1; }

// Keys of another architecture than model_type says: sizing either would be a guess.
void refuse_contradictions(const json& object, const Family& family, const std::string& place) {
    for (const auto* key : {"num_local_experts", "num_experts", "n_routed_experts"})
        if (!family.mixture && object.contains(key) && above_one(object.at(key)))
            not_modelled(fmt::format("{}/{}", place, key),
                         fmt::format("names experts, but \"{}\" has none", family.model_type));
    const bool latent = object.contains("kv_lora_rank") && !object.at("kv_lora_rank").is_null();
    if (latent && family.head_dimension != HeadDimension::latent)
        not_modelled(place + "/kv_lora_rank",
                     fmt::format("is of latent attention, which \"{}\" does not have", family.model_type));
}

void refuse_other_architectures(const json& object, const Family& family, const std::string& place) {
    for (const auto& [key, why] : kForbidden) {
        const auto found = object.find(key);
        if (found != object.end() && !found->is_null())
            not_modelled(fmt::format("{}/{}", place, key), fmt::format("this key {}: not modelled", why));
    }
    if (object.value("is_encoder_decoder", json(false)) == true)
        not_modelled(place + "/is_encoder_decoder", "an encoder-decoder is not modelled");
    refuse_contradictions(object, family, place);
}

Transformer read_text_part(const json& object, const json* outer, const std::string& place) {
    const Family& family = family_of(model_type_of(object, place), place);
    refuse_other_architectures(object, family, place);
    ConfigKeys keys(object, place, outer);
    Blueprint blueprint = read_blueprint(family, keys);
    Transformer model = build(std::move(blueprint));
    model.defaulted_keys = keys.defaulted();
    try {
        model.parameters();
    } catch (const OverflowError&) {
        throw InputError(place, "describes more than 2^63 parameters", "check its sizes");
    }
    return model;
}

Transformer read_nested(const json& config, const std::string& outer_type, const std::string& place) {
    const auto text = config.find("text_config");
    if (text == config.end() || !text->is_object())
        throw InputError(place + "/text_config",
                         fmt::format("is missing, and \"{}\" keeps its sizes there", outer_type),
                         "write the text model's config as an object");
    json inner = *text;
    if (!inner.contains("model_type")) inner["model_type"] = outer_type + "_text";
    Transformer model = read_text_part(inner, &config, place + "/text_config");
    model.notes.push_back("the text part only: the vision part is not counted");
    return model;
}
}  // namespace

Transformer read_config(const json& config, std::string_view place) {
    const std::string where = std::string(place) + ":";
    if (!config.is_object())
        throw InputError(where + "/", "is not a JSON object", "give a config.json as downloaded");
    const std::string model_type = model_type_of(config, where);
    const bool wrapper = std::ranges::find(kTextWrappers, model_type) != std::end(kTextWrappers);
    Transformer model = wrapper && (config.contains("text_config") || !find_family(model_type))
                            ? read_nested(config, model_type, where)
                            : read_text_part(config, nullptr, where);
    model.name = std::string(place);
    model.model_type = model_type;
    return model;
}

}  // namespace wirewise
