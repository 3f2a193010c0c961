// `model`: how many parameters a config.json makes, part by part.
#pragma once

#include "model/transformer/transformer.hpp"
#include "tools/render/report.hpp"

namespace wirewise {

Json model_json(const Transformer& model);  // name, parameters, active_parameters, defaulted_keys, notes
Report model_report(const Transformer& model);

}  // namespace wirewise
