// Embedding at the bottom, last norm, head and loss at the top. Head and loss run in chunks of tokens,
// forward and backward together, so that only one chunk of logits exists at a time; the gradient takes the
// logits' place.
#pragma once

#include "model/strategy/native/linear.hpp"
#include "model/strategy/native/norm.hpp"

namespace wirewise {

class HeadEmitter {
  public:
    HeadEmitter(NativeContext& context, NativeParameters& parameters);

    void begin_micro_batch();
    BufferId embedding_forward();
    void embedding_backward(BufferId dx);
    void last_norm(BufferId x);
    // Returns the gradient of the last layer's output.
    BufferId loss_backward();
    void loss_forward();  // evaluation

  private:
    Linear head() const;
    std::int64_t chunk_tokens() const;
    BufferId activation(std::string_view name);
    BufferId logits(std::int64_t rows);
    Operand rows_of(BufferId matrix, std::int64_t first, std::int64_t rows, Access access) const;
    void fetch(BufferId ids);
    void clear(BufferId buffer, std::int64_t elements, std::string_view name);
    Norm embedding_norm() const;
    Norm top_norm() const;
    void chunk_forward(std::int64_t first, std::int64_t rows, BufferId logits, bool training);

    NativeContext& context_;
    NativeParameters& parameters_;
    NormEmitter norms_;
    LinearEmitter linears_;
    BufferId tokens_{}, targets_{};
    NormSaved normed_;
    std::optional<NormSaved> embedding_norm_;
};

}  // namespace wirewise
