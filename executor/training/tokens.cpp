#include "executor/training/tokens.hpp"

#include <fmt/format.h>

#include <cstring>

#include "executor/training/random.hpp"
#include "executor/training/safetensors.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

[[noreturn]] void refuse_token(const std::string& place, std::int64_t token, std::int64_t at,
                               std::int64_t vocabulary) {
    throw InputError(
        place, fmt::format("token {} at position {} is outside the vocabulary of {}", token, at, vocabulary),
        "give tokens made for this model");
}

template <class Stored>
std::int64_t element(std::span<const std::byte> bytes, std::int64_t index) {
    Stored value;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(index) * sizeof(Stored), sizeof(Stored));
    return static_cast<std::int64_t>(value);
}

std::int64_t at(std::span<const std::byte> bytes, DType type, std::int64_t index) {
    return type == DType::int32 ? element<std::int32_t>(bytes, index) : element<std::int64_t>(bytes, index);
}

class SafetensorsTokens final : public TokenSource {
  public:
    SafetensorsTokens(const std::filesystem::path& path, std::int64_t vocabulary) : file_(path) {
        const std::string place = file_.path() + ": tokens";
        const StoredTensor* const tensor = file_.find("tokens");
        if (!tensor) throw InputError(place, "is missing", "give a file with a tensor `tokens`");
        const auto type = dtype_from_safetensors(tensor->dtype);
        if (tensor->shape.size() != 3 || (type != DType::int32 && type != DType::int64))
            throw InputError(place, "is no [steps, batch, sequence] tensor of int32", "write such a tensor");
        type_ = *type;
        bytes_ = file_.bytes_of(*tensor);
        steps_ = tensor->shape[0];
        shape_ = {tensor->shape[1], tensor->shape[2]};
        if (steps_ == 0 || shape_.batch == 0 || shape_.sequence == 0)
            throw InputError(place, "is empty", "give at least one step");
        for (std::int64_t i = 0; i < steps_ * shape_.tokens(); ++i)
            if (const std::int64_t token = at(bytes_, type_, i); token < 0 || token >= vocabulary)
                refuse_token(place, token, i, vocabulary);
    }

    std::optional<BatchShape> shape() const override { return shape_; }
    std::optional<std::int64_t> steps() const override { return steps_; }
    void read(std::int64_t step, BatchShape, std::span<std::int32_t> tokens) const override {
        const std::int64_t first = step % steps_ * shape_.tokens();
        for (std::size_t i = 0; i < tokens.size(); ++i)
            tokens[i] = static_cast<std::int32_t>(at(bytes_, type_, first + static_cast<std::int64_t>(i)));
    }

  private:
    SafetensorsFile file_;
    DType type_ = DType::int32;
    std::span<const std::byte> bytes_;
    std::int64_t steps_ = 0;
    BatchShape shape_;
};

class FlatTokens final : public TokenSource {
  public:
    FlatTokens(const std::filesystem::path& path, std::int64_t vocabulary, TokenWidth width)
        : path_(path.string()), file_(path), vocabulary_(vocabulary), width_(width) {
        const std::size_t size = width == TokenWidth::two_bytes ? 2 : 4;
        if (file_.bytes().size() % size != 0)
            throw InputError(path_,
                             fmt::format("holds {} bytes, no multiple of {}", file_.bytes().size(), size),
                             "give unsigned little-endian integers of that width");
        count_ = static_cast<std::int64_t>(file_.bytes().size() / size);
    }

    void read(std::int64_t step, BatchShape shape, std::span<std::int32_t> tokens) const override {
        if (count_ < shape.tokens())
            throw InputError(path_, fmt::format("holds {} tokens; a step needs {}", count_, shape.tokens()),
                             "give more tokens or a smaller batch");
        const std::int64_t first = step % (count_ / shape.tokens()) * shape.tokens();
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const std::int64_t index = first + static_cast<std::int64_t>(i);
            const std::int64_t token = width_ == TokenWidth::two_bytes
                                           ? element<std::uint16_t>(file_.bytes(), index)
                                           : element<std::uint32_t>(file_.bytes(), index);
            if (token >= vocabulary_) refuse_token(path_, token, index, vocabulary_);
            tokens[i] = static_cast<std::int32_t>(token);
        }
    }

  private:
    std::string path_;
    MappedFile file_;
    std::int64_t vocabulary_ = 0, count_ = 0;
    TokenWidth width_;
};

class GeneratedTokens final : public TokenSource {
  public:
    GeneratedTokens(std::uint64_t seed, std::int64_t vocabulary) : seed_(seed), vocabulary_(vocabulary) {}

    void read(std::int64_t step, BatchShape shape, std::span<std::int32_t> tokens) const override {
        const auto vocabulary = static_cast<std::uint64_t>(vocabulary_);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const auto index = static_cast<std::uint64_t>(step * shape.tokens()) + i;
            const std::uint64_t bits = random_bits(seed_, index);
            const bool follows = i % static_cast<std::size_t>(shape.sequence) != 0 && bits % 4 != 0;
            const std::uint64_t token =
                follows ? 3 * static_cast<std::uint64_t>(tokens[i - 1]) + 1 : bits >> 8;
            tokens[i] = static_cast<std::int32_t>(token % vocabulary);
        }
    }

  private:
    std::uint64_t seed_;
    std::int64_t vocabulary_;
};

// A safetensors file starts with the length of a header that starts with a brace.
bool looks_like_safetensors(const std::filesystem::path& path) {
    const MappedFile file(path);
    return path.extension() == ".safetensors" ||
           (file.bytes().size() > 8 && static_cast<char>(file.bytes()[8]) == '{' &&
            element<std::uint64_t>(file.bytes(), 0) < static_cast<std::int64_t>(file.bytes().size()));
}

}  // namespace

std::unique_ptr<TokenSource> open_tokens(const std::filesystem::path& path, std::int64_t vocabulary,
                                         std::optional<TokenWidth> width) {
    if (looks_like_safetensors(path)) return std::make_unique<SafetensorsTokens>(path, vocabulary);
    const TokenWidth usual = vocabulary <= 65536 ? TokenWidth::two_bytes : TokenWidth::four_bytes;
    return std::make_unique<FlatTokens>(path, vocabulary, width.value_or(usual));
}

std::unique_ptr<TokenSource> generated_tokens(std::uint64_t seed, std::int64_t vocabulary) {
    return std::make_unique<GeneratedTokens>(seed, vocabulary);
}

}  // namespace wirewise
