#include "model/topology/encoding.hpp"

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

bool leads(char32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool trails(char32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

}  // namespace

std::optional<std::string> utf8_of_utf16(std::string_view bytes) {
    const bool little = bytes.starts_with("\xff\xfe"), big = bytes.starts_with("\xfe\xff");
    if (!little && !big) return std::nullopt;
    const auto unit = [&](std::size_t at) -> char32_t {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
        return little ? byte(at) | byte(at + 1) << 8 : byte(at) << 8 | byte(at + 1);
    };
    std::string out;
    for (std::size_t at = 2; at + 1 < bytes.size(); at += 2) {
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
