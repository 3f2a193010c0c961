// The reference models: a Hugging Face folder with the trace of eight steps made by transformers in fp32.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "executor/host/host_executor.hpp"
#include "executor/training/safetensors.hpp"
#include "model/transformer/transformer.hpp"
#include "tests/relative_error.hpp"

namespace wirewise::test {

struct Reference {
    explicit Reference(const std::filesystem::path& folder);

    std::filesystem::path folder;
    Transformer model;
    SafetensorsFile trace;
    std::vector<double> losses, gradient_norms;  // by step
    std::int64_t batch = 0, sequence = 0, steps = 0;
    Hyperparameters numbers;

    std::vector<std::int32_t> tokens(std::int64_t step) const;
    std::vector<float> tensor(const std::string& name) const;
};

std::filesystem::path committed(const std::string& name);
// Of a committed model: the complete one under WIREWISE_SHARED where that is present.
std::filesystem::path reference_folder(const std::string& name);
// The models that are under WIREWISE_SHARED alone.
std::vector<std::filesystem::path> uncommitted_folders();

// An fp32 plan for this many sequences of the reference's length per step.
ParallelPlan fp32_plan(Strategy strategy, Mesh mesh, std::int64_t sequences, std::int64_t sequence_length,
                       std::int64_t accumulation, Recompute recompute);


std::vector<float> read(const Executor& executor, TensorKind kind, const UnitTensor& tensor);

}  // namespace wirewise::test
