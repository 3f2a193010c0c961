#include "executor/training/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <nlohmann/json.hpp>

#include "model/units/error.hpp"

namespace wirewise {

using nlohmann::json;

namespace {

constexpr std::uint64_t kLargestHeader = 100'000'000;  // the format's own limit

struct ElementType {
    std::string_view name;
    std::int64_t bytes;
    std::optional<DType> dtype;
};
constexpr std::array<ElementType, 15> kElementTypes{{{"F64", 8, {}},
                                                     {"F32", 4, DType::fp32},
                                                     {"F16", 2, DType::fp16},
                                                     {"BF16", 2, DType::bf16},
                                                     {"F8_E4M3", 1, {}},
                                                     {"F8_E5M2", 1, {}},
                                                     {"I64", 8, DType::int64},
                                                     {"I32", 4, DType::int32},
                                                     {"I16", 2, {}},
                                                     {"I8", 1, DType::int8},
                                                     {"U64", 8, {}},
                                                     {"U32", 4, {}},
                                                     {"U16", 2, {}},
                                                     {"U8", 1, {}},
                                                     {"BOOL", 1, DType::boolean}}};

const ElementType* element_type(std::string_view name) {
    const auto found = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                    [&](const ElementType& type) { return type.name == name; });
    return found == kElementTypes.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const std::string& path, std::string_view tensor, const std::string& problem) {
    throw InputError(tensor.empty() ? path : fmt::format("{}: {}", path, tensor), problem,
                     "give an undamaged safetensors file");
}

std::int64_t as_size(const json& value, const std::string& path, std::string_view tensor) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
        refuse(path, tensor, "holds a size that is not a whole number");
    return value.get<std::int64_t>();
}

// The bytes that dtype and shape say.
std::int64_t said_bytes(const StoredTensor& tensor, const std::string& path) {
    const ElementType* const type = element_type(tensor.dtype);
    if (!type)
        refuse(path, tensor.name, fmt::format("has the unknown dtype \"{}\"", tensor.dtype.substr(0, 40)));
    std::int64_t bytes = type->bytes;
    for (const std::int64_t size : tensor.shape)
        if (__builtin_mul_overflow(bytes, size, &bytes))
            refuse(path, tensor.name, "has a shape beyond 2^63 bytes");
    return bytes;
}

StoredTensor parse_tensor(const std::string& name, const json& entry, const std::string& path) {
    const auto member = [&](const char* key, bool right_kind(const json&)) -> const json& {
        if (!entry.is_object() || !entry.contains(key) || !right_kind(entry[key]))
            refuse(path, name, fmt::format("has no proper {}", key));
        return entry[key];
    };
    const auto is_array = [](const json& value) { return value.is_array(); };
    StoredTensor tensor{.name = name};
    tensor.dtype = member("dtype", [](const json& value) { return value.is_string(); }).get<std::string>();
    for (const json& size : member("shape", is_array)) tensor.shape.push_back(as_size(size, path, name));
    const json& offsets = member("data_offsets", is_array);
    if (offsets.size() != 2) refuse(path, name, "needs two data_offsets");
    tensor.begin = as_size(offsets[0], path, name);
    tensor.end = as_size(offsets[1], path, name);
    const std::int64_t said = said_bytes(tensor, path);
    if (tensor.end < tensor.begin || tensor.end - tensor.begin != said)
        refuse(path, name,
               fmt::format("lies about its size: dtype and shape say {} bytes, its place holds {}", said,
                           tensor.end - tensor.begin));
    return tensor;
}

json parse_header(std::span<const std::byte> file, const std::string& path, std::size_t& data) {
    std::uint64_t length = 0;
    if (file.size() < sizeof length) refuse(path, "", "is too short for a safetensors file");
    std::memcpy(&length, file.data(), sizeof length);
    if (length > kLargestHeader || length > file.size() - sizeof length)
        refuse(path, "", fmt::format("says its header has {} bytes; the file has {}", length, file.size()));
    data = sizeof length + static_cast<std::size_t>(length);
    const auto* const text = reinterpret_cast<const char*>(file.data()) + sizeof length;
    json header = json::parse(text, text + length, nullptr, false);
    if (!header.is_object()) refuse(path, "", "has a header that is no JSON object");
    return header;
}

// Tensors follow one another without gaps up to the end of the file.
void check_places(const std::vector<StoredTensor>& tensors, std::int64_t bytes, const std::string& path) {
    std::int64_t at = 0;
    for (const StoredTensor& tensor : tensors) {
        if (tensor.begin != at)
            refuse(path, tensor.name,
                   fmt::format("begins at byte {} where {} is expected", tensor.begin, at));
        if (tensor.end > bytes)
            refuse(path, tensor.name,
                   fmt::format("ends at byte {}, but the file holds {}: it is truncated", tensor.end, bytes));
        at = tensor.end;
    }
    if (at != bytes) refuse(path, "", fmt::format("holds {} bytes that belong to no tensor", bytes - at));
}

std::string_view spelled(DType type) {
    for (const ElementType& element : kElementTypes)
        if (element.dtype == type) return element.name;
    ensure(false, "a dtype that safetensors cannot hold");
    return {};
}

std::string header_of(std::span<const TensorToWrite> tensors) {
    json header{{"__metadata__", {{"format", "pt"}}}};
    std::int64_t at = 0;
    for (const TensorToWrite& tensor : tensors) {
        const std::int64_t bytes = bytes_of(tensor);
        header[tensor.name] = {
            {"dtype", spelled(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes}}};
        at += bytes;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors start aligned
    return text;
}

}  // namespace

std::optional<DType> dtype_from_safetensors(std::string_view dtype) {
    const ElementType* const type = element_type(dtype);
    return type ? type->dtype : std::nullopt;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path.string()), file_(path) {
    std::size_t data = 0;
    const json header = parse_header(file_.bytes(), path_, data);
    data_ = file_.bytes().subspan(data);
    for (const auto& [name, entry] : header.items())
        if (name != "__metadata__") tensors_.push_back(parse_tensor(name, entry, path_));
    std::sort(tensors_.begin(), tensors_.end(), [](const StoredTensor& a, const StoredTensor& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    check_places(tensors_, static_cast<std::int64_t>(data_.size()), path_);
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
    const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                    [&](const StoredTensor& tensor) { return tensor.name == name; });
    return found == tensors_.end() ? nullptr : &*found;
}

std::span<const std::byte> SafetensorsFile::bytes_of(const StoredTensor& tensor) const {
    return data_.subspan(static_cast<std::size_t>(tensor.begin),
                         static_cast<std::size_t>(tensor.end - tensor.begin));
}

std::int64_t bytes_of(const TensorToWrite& tensor) {
    std::int64_t bytes = size_of(tensor.dtype);
    for (const std::int64_t size : tensor.shape) bytes *= size;
    return bytes;
}

void write_safetensors(FileAside& file, std::span<const TensorToWrite> tensors) {
    const std::string header = header_of(tensors);
    const std::uint64_t length = header.size();
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(header);
    std::vector<std::byte> bytes;
    for (const TensorToWrite& tensor : tensors) {
        bytes.resize(static_cast<std::size_t>(bytes_of(tensor)));
        tensor.fill(bytes);
        file.write(bytes);
    }
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors) {
    FileAside file(path);
    write_safetensors(file, tensors);
    file.commit();
}

}  // namespace wirewise
