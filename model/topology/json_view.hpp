// A JSON value that knows where it stands, so that every complaint names file and JSON pointer.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/units/quantity.hpp"

namespace wirewise {

using Json = nlohmann::ordered_json;

// Throws InputError with line and column where `text` is not JSON.
Json parse_topology_json(std::string_view text, std::string_view file);

class JsonView {
  public:
    JsonView(const Json& value, std::string file, std::string pointer = {});

    const Json& value() const { return *value_; }
    std::string place() const { return file_ + ":" + (pointer_.empty() ? "/" : pointer_); }

    bool has(std::string_view key) const;
    JsonView at(std::string_view key) const;                   // an error when missing
    std::optional<JsonView> find(std::string_view key) const;  // nothing when missing
    std::vector<JsonView> items() const;                       // of an array
    std::vector<std::string> keys() const;                     // of an object
    // An object whose keys are all among these: a misspelt key is an error, never ignored.
    void expect_keys(std::initializer_list<std::string_view> known) const;

    std::string text() const;
    int integer(int least, int most) const;
    double number() const;  // of any size
    bool boolean() const;
    Seconds seconds() const;
    Bytes bytes() const;
    BytesPerSecond bandwidth() const;
    FlopsPerSecond flops_per_second() const;

    [[noreturn]] void refuse(std::string problem, std::string remedy = {}) const;

  private:
    std::string quantity(std::string_view example) const;
    void expect_object() const;

    const Json* value_;
    std::string file_, pointer_;
};

}  // namespace wirewise
