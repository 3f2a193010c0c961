#include "tools/inputs/files.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/units/error.hpp"

namespace wirewise {

std::string text_of_file(const std::string& path, const std::string& place) {
    constexpr std::uintmax_t kLargest = std::uintmax_t{64} << 20;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
        throw InputError(place, "\"" + path + "\" is not a file", "name a file that exists, or a built-in");
    if (std::filesystem::file_size(path, error) > kLargest)
        throw InputError(path, "is larger than 64 MiB", "name the right file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(path, "cannot be read", "check its permissions");
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text, const std::string& option) {
    std::ofstream file(path, std::ios::binary);
    if (!(file << text).flush())
        throw InputError(option, "cannot write " + path,
                         "name a file in a folder that exists and may be written");
}

}  // namespace wirewise
