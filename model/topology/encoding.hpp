// Windows PowerShell writes what `nvidia-smi topo -m > file` prints as UTF-16 with a byte order mark.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wirewise {

// The text in UTF-8; nothing where no UTF-16 byte order mark stands in front. What cannot be decoded becomes
// U+FFFD.
std::optional<std::string> utf8_of_utf16(std::string_view bytes);

}  // namespace wirewise
