#include "model/topology/encoding.hpp"

#include <algorithm>
#include <cstdint>

namespace wirewise {
namespace {

constexpr char32_t kUnreadable = 0xfffd;

void append_utf8(std::string& out, char32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | (code >> 6));
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | (code >> 12));
        tail(6), tail(0);
    } else {
        out += static_cast<char>(0xf0 | (code >> 18));
        tail(12), tail(6), tail(0);
    }
}

// Plain letters in UTF-16 have a zero in every other byte; no text in UTF-8 has one at all.
bool zeros_at(std::string_view bytes, std::size_t first) {
    constexpr std::size_t kLookedAt = 512;
    std::size_t zeros = 0, units = 0, others = 0;
    for (std::size_t at = 0; at + 1 < std::min(bytes.size(), kLookedAt); at += 2, ++units) {
        zeros += bytes[at + first] == '\0';
        others += bytes[at + 1 - first] == '\0';
    }
    return units >= 2 && others == 0 && 4 * zeros >= 3 * units;
}

bool leads(char32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool trails(char32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

}  // namespace

bool has_byte_order_mark(std::string_view bytes) {
    return bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
}

std::optional<std::string> utf8_of_utf16(std::string_view bytes) {
    const bool marked = has_byte_order_mark(bytes);
    const bool little = marked ? bytes.starts_with("\xff\xfe") : zeros_at(bytes, 1);
    if (!marked && !little && !zeros_at(bytes, 0)) return std::nullopt;
    const auto unit = [&](std::size_t at) -> char32_t {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
        return little ? byte(at) | byte(at + 1) << 8 : byte(at) << 8 | byte(at + 1);
    };
    std::string out;
    for (std::size_t at = marked ? 2 : 0; at + 1 < bytes.size(); at += 2) {
        const char32_t first = unit(at);
        if (leads(first) && at + 3 < bytes.size() && trails(unit(at + 2))) {
            append_utf8(out, 0x10000 + ((first - 0xd800) << 10) + (unit(at + 2) - 0xdc00));
            at += 2;
        } else {
            append_utf8(out, leads(first) || trails(first) ? kUnreadable : first);
        }
    }
    return out;
}

}  // namespace wirewise
