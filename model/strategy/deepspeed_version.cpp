#include "model/strategy/deepspeed_version.hpp"

#include <fmt/format.h>

#include <charconv>

namespace wirewise {

std::optional<DeepSpeedVersion> deepspeed_version_from(std::string_view text) {
    DeepSpeedVersion version;
    const char *at = text.data(), *end = at + text.size();
    for (int* part : {&version.major, &version.minor, &version.patch}) {
        const auto [next, error] = std::from_chars(at, end, *part);
        if (error != std::errc() || *part < 0) return std::nullopt;
        at = next;
        if (part == &version.patch) break;
        if (at == end || *at++ != '.') return std::nullopt;
    }
    return at == end ? std::optional(version) : std::nullopt;
}

std::string to_text(const DeepSpeedVersion& version) {
    return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace wirewise
