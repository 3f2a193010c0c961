// A data file compiled into the binary (see wirewise_embed in tools/cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace wirewise {

struct EmbeddedFile {
    std::string_view name;  // without its folder: "gpus.json"
    std::string_view text;
};

}  // namespace wirewise
