// From a Hugging Face config.json to a Transformer, or a clear refusal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/transformer/transformer.hpp"
#include "model/units/error.hpp"

namespace wirewise {

// The config is sound but its architecture is not modelled. problem() says why.
class UnsupportedModel : public InputError {
  public:
    using InputError::InputError;
};

// `place` names the file in messages. Throws InputError, or UnsupportedModel; sizes no model wrongly.
Transformer read_config(const nlohmann::json& config, std::string_view place);

// A config.json, a folder holding one, or a built-in name; `overrides` are "key=value" with dotted keys for
// nested objects and JSON values ("num_hidden_layers=8", "text_config.hidden_size=64", "rope_scaling=null").
Transformer load_model(std::string_view name_or_path, const std::vector<std::string>& overrides = {});

// The same config with its overrides applied, as the config.json of a saved model.
std::string config_text(std::string_view name_or_path, const std::vector<std::string>& overrides = {});

struct BuiltinModel {
    std::string name, repository,
        source;  // "mistral-7b", the Hugging Face repository it describes, where it was read
};
std::vector<BuiltinModel> builtin_models();

}  // namespace wirewise
