#include "tools/inputs/beside.hpp"

#include <filesystem>

namespace wirewise {

namespace fs = std::filesystem;

std::string stored_beside(const std::string& name, const std::string& file) {
    std::error_code none;
    if (name.empty() || !fs::exists(name, none)) return name;
    const fs::path from = fs::absolute(file).lexically_normal().parent_path();
    const fs::path relative = fs::absolute(name).lexically_normal().lexically_proximate(from);
    // With a slash it cannot be taken for a built-in name.
    return *relative.begin() == ".." ? relative.string() : "./" + relative.string();
}

std::string found_beside(const std::string& stored, const std::string& file) {
    const fs::path path(stored);
    if (path.is_absolute() || stored.find('/') == std::string::npos) return stored;
    std::error_code none;
    const fs::path beside = (fs::absolute(file).parent_path() / path).lexically_normal();
    return fs::exists(beside, none) ? beside.string() : stored;
}

}  // namespace wirewise
