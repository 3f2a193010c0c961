#include "tools/validate/profiled_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

#include "model/transformer/parse_json.hpp"
#include "model/units/error.hpp"
#include "tools/inputs/files.hpp"

namespace wirewise {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Profiles list host calls beside kernels: these are the kernels. First match wins.
struct KernelName {
    std::string_view word;
    Seconds ProfiledStep::*of;
};
constexpr std::array<KernelName, 10> kNames{{{"aten::", nullptr},
                                             {"sdpa", &ProfiledStep::attention},
                                             {"flash", &ProfiledStep::attention},
                                             {"fmha", &ProfiledStep::attention},
                                             {"nvjet", &ProfiledStep::gemm},
                                             {"gemm", &ProfiledStep::gemm},
                                             {"ncclDevKernel", &ProfiledStep::collectives},
                                             {"multi_tensor_apply", &ProfiledStep::optimizer},
                                             {"triton_", &ProfiledStep::memory_bound},
                                             {"at::native", &ProfiledStep::memory_bound}}};

ProfiledStep sums_of(const json& entry) {
    ProfiledStep sums{.step = Seconds(entry.at("step_ms").get<double>() * 1e-3)};
    for (const json& kernel : entry.at("kernels")) {
        const auto name = kernel.at("name").get<std::string>();
        const auto found = std::ranges::find_if(
            kNames, [&](const KernelName& one) { return name.find(one.word) != std::string::npos; });
        if (found != kNames.end() && found->of)
            sums.*(found->of) += Seconds(kernel.at("total_us").get<double>() * 1e-6);
    }
    return sums;
}

bool same_step(const json& entry, const PlanCandidate& candidate, const Transformer& model,
               Seconds measured) {
    constexpr double kSame = 0.01;
    return entry.at("num_hidden_layers") == model.layer_count() &&
           entry.at("micro_batch") == candidate.plan.micro_batch &&
           entry.at("strategy") == name_of(candidate.plan.strategy) &&
           entry.value("compile", false) == candidate.plan.compile &&
           std::abs(entry.at("step_ms").get<double>() * 1e-3 / measured.value() - 1) < kSame;
}

}  // namespace

std::optional<ProfiledStep> profiled_step(const std::string& file, const PlanCandidate& candidate,
                                          const Transformer& model, Seconds measured) {
    const json entries = parse_json(text_of_file(file, "--profiled"), file);
    try {
        for (const json& entry : entries)
            if (same_step(entry, candidate, model, measured)) return sums_of(entry);
    } catch (const json::exception& error) {
        throw InputError(file, error.what(), "give an array of profiled steps");
    }
    return std::nullopt;
}

std::string profile_beside(const std::string& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("profiled_steps") && name.ends_with(".json")) return entry.path().string();
    }
    return "";
}

}  // namespace wirewise
