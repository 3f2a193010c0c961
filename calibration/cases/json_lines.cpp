#include "calibration/cases/json_lines.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "model/transformer/parse_json.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

constexpr std::uintmax_t kMostBytes = 64 << 20;

std::ifstream open(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        throw InputError(file, "is not a regular file",
                         "give a file of measured cases, one JSON object a line");
    if (std::filesystem::file_size(file, error) > kMostBytes || error)
        throw InputError(file, "is larger than 64 MiB", "give a file of measured cases");
    std::ifstream stream(file);
    if (!stream) throw InputError(file, "cannot be read", "check its permissions");
    return stream;
}

}  // namespace

void JsonLine::refuse(const char* key, const std::string& problem, const std::string& remedy) const {
    throw InputError(fmt::format("{}:/{}", place_, key), problem, remedy);
}

bool JsonLine::has(const char* key) const {
    const auto found = row_.find(key);
    return found != row_.end() && !found->is_null();
}

std::string JsonLine::text(const char* key) const {
    if (!has(key)) return {};
    if (!row_.at(key).is_string()) refuse(key, "is not text", "write it in quotes");
    return row_.at(key).get<std::string>();
}

std::string JsonLine::needed_text(const char* key) const {
    if (!has(key)) refuse(key, "is missing", "every case of this kind states it");
    return text(key);
}

double JsonLine::number(const char* key) const {
    if (!has(key)) refuse(key, "is missing", "every case of this kind states it");
    const auto& value = row_.at(key);
    if (!value.is_number() || !std::isfinite(value.get<double>()))
        refuse(key, "is not a number", "write a number");
    return value.get<double>();
}

double JsonLine::positive(const char* key) const {
    const double value = number(key);
    if (value <= 0) refuse(key, "is not above zero", "write a positive number");
    return value;
}

std::int64_t JsonLine::integer(const char* key) const {
    constexpr double kMost = 9e15;  // exact in a double
    const double value = number(key);
    if (value != std::floor(value) || std::abs(value) > kMost)
        refuse(key, "is not an integer", "write digits only");
    return static_cast<std::int64_t>(value);
}

JsonLine JsonLine::object(const char* key) const {
    if (!has(key)) refuse(key, "is missing", "every case of this kind states it");
    if (!row_.at(key).is_object()) refuse(key, "is not an object", "write {...}");
    return {row_.at(key), fmt::format("{}:/{}", place_, key)};
}

std::vector<JsonLine> read_json_lines(const std::string& file) {
    std::ifstream stream = open(file);
    std::vector<JsonLine> lines;
    std::string text;
    for (int number = 1; std::getline(stream, text); ++number) {
        if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
        const std::string place = fmt::format("{}:{}", file, number);
        nlohmann::json row = parse_json(text, place);
        if (!row.is_object())
            throw InputError(place, "is not an object", "write one JSON object a line: {\"kind\": ...}");
        lines.emplace_back(std::move(row), place);
    }
    if (lines.empty()) throw InputError(file, "has no cases", "write one JSON object a line");
    return lines;
}

}  // namespace wirewise
