// The keys of one config.json, read with checks: each value is taken once, in its type and range, and every
// key that was absent or null and got a default is written down.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/transformer/transformer.hpp"

namespace wirewise {

// Spellings of one key: the class's own name first, then what its attribute_map or its predecessors call it.
using Spellings = std::vector<std::string_view>;

// A sane range; what lies outside is a typing error, not a model.
struct Range {
    std::int64_t low = 1, high = std::int64_t{1} << 24;
};

class ConfigKeys {
  public:
    // `outer` is the enclosing object when the keys stand in a nested text_config, else null. All must
    // outlive this.
    ConfigKeys(const nlohmann::json& object, std::string_view place, const nlohmann::json* outer = nullptr);

    // The value under any of its spellings, null where absent or null. Two spellings that disagree are
    // refused.
    const nlohmann::json* value(const Spellings& names) const;
    // Also looks at the enclosing object, for keys such as torch_dtype that stand outside text_config.
    const nlohmann::json* value_or_outer(std::string_view name) const;
    bool has(std::string_view name) const;       // present and not null
    bool is_null(const Spellings& names) const;  // present and null

    std::int64_t integer(const Spellings& names, Range range = {}) const;  // compulsory
    std::optional<std::int64_t> optional_integer(const Spellings& names, Range range = {}) const;
    std::int64_t integer_or(const Spellings& names, std::int64_t fallback, std::string_view from,
                            Range range = {});
    bool outer_flag(std::string_view name) const;  // of the enclosing object, where value_or_outer() found it
    std::string outer_text(
        std::string_view name) const;  // here or in the enclosing object; empty where it is no string
    bool flag_or(std::string_view name, bool fallback, std::string_view from);
    double number_or(const Spellings& names, double fallback, std::string_view from);
    std::string text_or(const Spellings& names, std::string_view fallback, std::string_view from);
    std::optional<std::vector<std::string>> texts(std::string_view name) const;
    std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;

    void note_default(std::string_view key, std::string value, std::string_view from);
    [[noreturn]] void refuse(std::string_view name, std::string problem, std::string remedy) const;
    // The object under this key as keys of its own; its defaults join these.
    std::optional<ConfigKeys> inside(std::string_view name) const;

    // Takes over what a nested object's keys fell back to, under "name.key".
    void absorb(std::string_view name, const ConfigKeys& nested);

    const std::vector<DefaultedKey>& defaulted() const { return defaulted_; }
    const std::string& place() const { return place_; }

  private:
    const nlohmann::json* object_;
    const nlohmann::json* outer_;
    std::string place_;  // "file:" + pointer of the object
    std::vector<DefaultedKey> defaulted_;
};

}  // namespace wirewise
