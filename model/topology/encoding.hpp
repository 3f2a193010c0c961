// Windows PowerShell writes what `nvidia-smi topo -m > file` prints as UTF-16 with a byte order mark; some
// tools take the mark off on the way.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wirewise {

bool has_byte_order_mark(std::string_view bytes);  // of UTF-16

// The text in UTF-8; nothing where it is not UTF-16. What cannot be decoded becomes U+FFFD.
std::optional<std::string> utf8_of_utf16(std::string_view bytes);

}  // namespace wirewise
