// A whole file as bytes, read-only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace wirewise {

class MappedFile {
  public:
    // Throws InputError naming the file.
    explicit MappedFile(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace wirewise
