// Writes what a run computed in the form that transformers loads.
#pragma once

#include <filesystem>

#include "executor/training/executor.hpp"

namespace wirewise {

// config.json and model.safetensors, both written aside and then renamed. `config`: the text of the model's
// own config.json; the dtype that it names becomes that of the weights.
void save_checkpoint(const Executor& executor, const std::filesystem::path& folder, DType dtype,
                     std::string_view config);

// The tokenizer's and the generator's files of another Hugging Face folder, as far as it has them.
void copy_companions(const std::filesystem::path& from, const std::filesystem::path& to);

// The last step's gradients in fp32 under the tensors' names.
void save_gradients(const Executor& executor, const std::filesystem::path& file);

}  // namespace wirewise
