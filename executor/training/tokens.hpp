// Where a run's tokens come from: a safetensors file, a flat file, or a generator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "model/units/dtype.hpp"

namespace wirewise {

// Sequences of one step on all ranks together.
struct BatchShape {
    std::int64_t batch = 0, sequence = 0;
    std::int64_t tokens() const { return batch * sequence; }
};

class TokenSource {
  public:
    virtual ~TokenSource() = default;
    // What the source decides itself; nothing: any shape will do.
    virtual std::optional<BatchShape> shape() const { return std::nullopt; }
    virtual std::optional<std::int64_t> steps() const { return std::nullopt; }
    // The batch of a step, row-major; beyond the source's end it starts again. Throws InputError for a token
    // that the model does not have.
    virtual void read(std::int64_t step, BatchShape shape, std::span<std::int32_t> tokens) const = 0;
};

enum class TokenWidth : std::uint8_t { two_bytes, four_bytes };  // unsigned, little endian

// A safetensors file (tensor `tokens` [steps, batch, sequence], int32 or int64), else a flat file of unsigned
// integers; `width` [two bytes where the vocabulary allows it] is for the latter.
std::unique_ptr<TokenSource> open_tokens(const std::filesystem::path& path, std::int64_t vocabulary,
                                         std::optional<TokenWidth> width = {});

// Endless text with something to learn: three tokens in four follow from the token before.
std::unique_ptr<TokenSource> generated_tokens(std::uint64_t seed, std::int64_t vocabulary);

}  // namespace wirewise
