// The models that the binary carries, from builtin/models.json, which CMake embeds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace wirewise {

struct Builtin {
    std::string name, repository, source;
    nlohmann::json config;
};

const std::vector<Builtin>& builtin_table();

// By name or by Hugging Face repository, case ignored; null when there is none.
const Builtin* find_builtin(std::string_view name);

// Up to three names that look like this one, the nearest first.
std::vector<std::string> near_builtins(std::string_view name);

}  // namespace wirewise
