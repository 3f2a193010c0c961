// Writes what a run computed in the form that transformers loads.
#pragma once

#include <filesystem>

#include "executor/training/executor.hpp"

namespace wirewise {

// config.json and model.safetensors, each written aside and renamed, the weights first. `config`: the text of
// the model's own config.json.
void save_checkpoint(const Executor& executor, const std::filesystem::path& folder, DType dtype,
                     std::string_view config);

// The last step's gradients in fp32 under the tensors' names.
void save_gradients(const Executor& executor, const std::filesystem::path& file);

}  // namespace wirewise
