#include "calibration/fit/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace wirewise {

namespace {

// Knowledge of a data sheet scaled from another GPU: a third either way.
constexpr double kUnknown = 0.3;

constexpr std::array<std::string_view, 8> kGroups{"gemm",  "attention",  "memory", "optimizer",
                                                  "power", "contention", "copy",   "collectives"};

// Of a runtime: what its host spends where steps wait for it.
constexpr std::array<std::string_view, 4> kHostCosts{"kernel", "collective", "hook", "optimizer_loop"};

// Shares of something.
constexpr std::array<std::string_view, 3> kShares{"/power/knee", "/contention/vector_share",
                                                  "/contention/side_kernel_rate"};

// What a kernel takes in a step against alone was measured in profiles of steps: within some per cent of one.
constexpr double kInStep = 0.05;

// What a transport takes from compute is known by the channels' count at best.
constexpr double kContention = 1;

double spread_of(const Json& profile, const std::string& pointer) {
    const double unknown = pointer.ends_with("/in_step_factor")        ? kInStep
                           : pointer.starts_with("/contention/wires/") ? kContention
                                                                       : kUnknown;
    const auto terms = profile.find("terms");
    if (terms == profile.end() || !terms->contains(pointer)) return unknown;
    return terms->at(pointer).value("spread", unknown);
}

void add(const Json& profile, const Json& node, const std::string& pointer, std::vector<Term>& terms) {
    if (pointer.ends_with("/origin") || pointer.ends_with("/log2_flops")) return;
    if (node.is_structured()) {
        std::size_t index = 0;
        for (const auto& [key, child] : node.items())
            add(profile, child, pointer + "/" + (node.is_array() ? std::to_string(index++) : key), terms);
        return;
    }
    Term term{pointer, "", 0, 0, spread_of(profile, pointer)};
    if (node.is_number()) term.value = node.get<double>();
    if (node.is_string()) {
        const std::string text = node.get<std::string>();
        char* end = nullptr;
        term.value = std::strtod(text.c_str(), &end);
        term.unit = end;
    }
    for (const std::string_view share : kShares)
        if (pointer == share) term.most = 1;
    if (term.value > 0) terms.push_back(term);
}

Json written(double value, const std::string& unit, int digits) {
    if (unit.empty()) return Json::parse(fmt::format("{:.{}g}", value, digits));
    return fmt::format("{:.{}g}{}", value, digits, unit);
}

Json replaced(Json profile, const std::vector<Term>& terms, const std::vector<double>& values, int digits) {
    const Json rates = profile["gemm"]["rate"];
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (values[i] != terms[i].value)
            profile[Json::json_pointer(terms[i].pointer)] = written(values[i], terms[i].unit, digits);
    if (rates.contains("fp16") && rates.at("fp16") == rates.at("bf16"))
        profile["gemm"]["rate"]["fp16"] = profile["gemm"]["rate"]["bf16"];
    return profile;
}

}  // namespace

bool is_held(const std::string& pointer, const std::vector<std::string>& held) {
    return std::any_of(held.begin(), held.end(), [&](const std::string& above) {
        return pointer == above || pointer.starts_with(above + "/");
    });
}

std::vector<Term> terms_of(const Json& profile, const std::set<std::string>& runtimes) {
    std::vector<Term> terms;
    for (const std::string_view group : kGroups)
        if (const auto node = profile.find(group); node != profile.end())
            add(profile, *node, fmt::format("/{}", group), terms);
    for (const std::string& runtime : runtimes)
        for (const std::string_view cost : kHostCosts) {
            const Json::json_pointer place(fmt::format("/runtimes/{}/{}", runtime, cost));
            if (profile.contains(place)) add(profile, profile.at(place), place.to_string(), terms);
        }
    return terms;
}

Json with_values(const Json& profile, const std::vector<Term>& terms, const std::vector<double>& values) {
    return replaced(profile, terms, values, 4);
}

Json exact_document(const Json& profile, const std::vector<Term>& terms, const std::vector<double>& values) {
    return replaced(profile, terms, values, 17);
}

}  // namespace wirewise
