// JSON lines with their places: every complaint names file and line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace wirewise {

class JsonLine {
  public:
    JsonLine(nlohmann::json row, std::string place) : row_(std::move(row)), place_(std::move(place)) {}

    const nlohmann::json& row() const { return row_; }
    const std::string& place() const { return place_; }  // "file:line", in a nested object "file:line:/key"

    bool has(const char* key) const;          // present and not null
    std::string text(const char* key) const;  // empty when absent
    std::string needed_text(const char* key) const;
    double number(const char* key) const;  // compulsory, finite
    double positive(const char* key) const;
    std::int64_t integer(const char* key) const;
    JsonLine object(const char* key) const;  // compulsory

    [[noreturn]] void refuse(const char* key, const std::string& problem, const std::string& remedy) const;

  private:
    nlohmann::json row_;
    std::string place_;
};

// The rows of a file, empty lines skipped. Throws InputError.
std::vector<JsonLine> read_json_lines(const std::string& file);

}  // namespace wirewise
