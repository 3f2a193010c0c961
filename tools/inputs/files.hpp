// Whole files in and out.
#pragma once

#include <string>

namespace wirewise {

// Throws InputError for what is no regular file, cannot be read or is larger than any input of ours (64 MiB).
std::string text_of_file(const std::string& path, const std::string& place);

void write_file(const std::string& path, const std::string& text, const std::string& option);

}  // namespace wirewise
