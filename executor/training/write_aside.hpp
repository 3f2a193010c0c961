// Writes a file beside its final place, fsyncs it and renames it: readers see the old file or the whole new
// one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace wirewise {

class FileAside {
  public:
    explicit FileAside(std::filesystem::path path);
    ~FileAside();  // without commit(): nothing remains
    FileAside(const FileAside&) = delete;
    FileAside& operator=(const FileAside&) = delete;

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    void commit();

  private:
    [[noreturn]] void fail(std::string_view call) const;
    std::filesystem::path path_, aside_;
    int file_ = -1;
};

}  // namespace wirewise
