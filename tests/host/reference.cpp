#include "tests/host/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

#include "executor/training/convert.hpp"
#include "model/transformer/read_config.hpp"

namespace wirewise::test {

namespace fs = std::filesystem;

Reference::Reference(const fs::path& folder_of)
    : folder(folder_of), model(load_model(folder_of.string())), trace(folder_of / "trace.safetensors") {
    std::ifstream file(folder / "trace.json");
    const nlohmann::json document = nlohmann::json::parse(file);
    losses = document["losses"].get<std::vector<double>>();
    gradient_norms = document["grad_norms"].get<std::vector<double>>();
    batch = document["batch"];
    sequence = document["seq"];
    steps = document["steps"];
    const auto& optimizer = document["optimizer"];
    numbers = {.learning_rate = optimizer["lr"],
               .beta1 = optimizer["betas"][0],
               .beta2 = optimizer["betas"][1],
               .epsilon = optimizer["eps"],
               .weight_decay = optimizer["weight_decay"]};
}

std::vector<std::int32_t> Reference::tokens(std::int64_t step) const {
    const auto bytes = trace.bytes_of(*trace.find("tokens"));
    std::vector<std::int32_t> all(static_cast<std::size_t>(batch * sequence));
    std::memcpy(all.data(), bytes.data() + static_cast<std::size_t>(step) * all.size() * 4, all.size() * 4);
    return all;
}

std::vector<float> Reference::tensor(const std::string& name) const {
    const StoredTensor* const tensor = trace.find(name);
    if (!tensor) return {};
    std::vector<float> values(static_cast<std::size_t>(tensor->end - tensor->begin) / 4);
    widen(trace.bytes_of(*tensor).data(), DType::fp32, values);
    return values;
}

fs::path committed(const std::string& name) { return fs::path(WIREWISE_FIXTURES) / name; }

namespace {
fs::path shared_folder() {
    const char* const shared = std::getenv("WIREWISE_SHARED");
    return (shared ? fs::path(shared) : fs::path(WIREWISE_SOURCE_FOLDER) / "../shared") / "reference";
}
}  // namespace

fs::path reference_folder(const std::string& name) {
    const fs::path complete = shared_folder() / name;
    return fs::exists(complete) ? complete : committed(name);
}

std::vector<fs::path> uncommitted_folders() {
    std::vector<fs::path> folders;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(shared_folder(), error))
        if (!fs::exists(committed(entry.path().filename().string()))) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    return folders;
}

ParallelPlan fp32_plan(Strategy strategy, Mesh mesh, std::int64_t sequences, std::int64_t sequence_length,
                       std::int64_t accumulation, Recompute recompute) {
    ParallelPlan plan;
    plan.strategy = strategy;
    plan.mesh = mesh;
    plan.sequence_length = sequence_length;
    plan.gradient_accumulation = accumulation;
    plan.micro_batch = sequences / (mesh.world() * accumulation);
    plan.precision = {DType::fp32, DType::fp32, DType::fp32, DType::fp32, DType::fp32, false};
    plan.recompute = recompute;
    return plan;
}

std::vector<float> read(const Executor& executor, TensorKind kind, const UnitTensor& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.slice.count));
    executor.read(kind, tensor, values);
    return values;
}

}  // namespace wirewise::test
