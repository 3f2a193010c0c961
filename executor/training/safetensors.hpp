// The safetensors format: 8 bytes of header length, a JSON header, then the tensors' bytes without gaps.
// https://github.com/huggingface/safetensors (format description, read 2026-11)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/training/mapped_file.hpp"
#include "executor/training/write_aside.hpp"
#include "model/units/dtype.hpp"

namespace wirewise {

struct StoredTensor {
    std::string name;
    std::string dtype;  // as the file spells it: "F32", "BF16", ...
    std::vector<std::int64_t> shape;
    std::int64_t begin = 0, end = 0;  // bytes after the header
};

// "F32" -> fp32; nothing for a dtype that wirewise does not compute with.
std::optional<DType> dtype_from_safetensors(std::string_view dtype);

// A file mapped into memory. Opening proves every tensor's dtype, shape and place; a file that lies is
// refused with an InputError that names the tensor.
class SafetensorsFile {
  public:
    explicit SafetensorsFile(const std::filesystem::path& path);

    const std::string& path() const { return path_; }
    const std::vector<StoredTensor>& tensors() const { return tensors_; }
    const StoredTensor* find(std::string_view name) const;
    std::span<const std::byte> bytes_of(const StoredTensor& tensor) const;

  private:
    std::string path_;
    MappedFile file_;
    std::span<const std::byte> data_;  // the tensors' bytes
    std::vector<StoredTensor> tensors_;
};

struct TensorToWrite {
    std::string name;
    DType dtype = DType::fp32;
    std::vector<std::int64_t> shape;
    std::function<void(std::span<std::byte>)> fill;  // asked for the bytes when their turn comes
};

std::int64_t bytes_of(const TensorToWrite& tensor);

// Into a file that the caller commits.
void write_safetensors(FileAside& file, std::span<const TensorToWrite> tensors);
// Written aside, fsynced, renamed: the file is there whole or not at all.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors);

}  // namespace wirewise
