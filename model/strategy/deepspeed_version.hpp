// A release of DeepSpeed, as in 0.14.2.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace wirewise {

struct DeepSpeedVersion {
    int major = 0, minor = 0, patch = 0;
    auto operator<=>(const DeepSpeedVersion&) const = default;
};

// Nothing where the text is none.
std::optional<DeepSpeedVersion> deepspeed_version_from(std::string_view text);
std::string to_text(const DeepSpeedVersion& version);

}  // namespace wirewise
