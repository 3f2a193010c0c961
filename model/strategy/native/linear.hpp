// A linear layer's three GEMMs, with the parts of the unit's flat buffers they use.
#pragma once

#include <optional>

#include "model/strategy/native/kernels.hpp"
#include "model/strategy/native/parameters.hpp"

namespace wirewise {

struct Linear {
    std::string_view name;
    Unit unit;
    LinearShape shape;
    Slice weight, bias;
};

class LinearEmitter {
  public:
    LinearEmitter(NativeContext& context, NativeParameters& parameters)
        : context_(context), parameters_(parameters) {}

    // y[rows, outputs] = x W^T (+ bias) (+ addend)
    void forward(const Linear& linear, std::int64_t rows, Operand x, Operand y,
                 std::optional<Operand> addend = std::nullopt);
    // dx = dy W, added to what dx holds when its access is `update`.
    void data_gradient(const Linear& linear, std::int64_t rows, Operand dy, Operand dx);
    // dW (+)= dy^T x; `more` adds to what this micro-batch wrote already.
    void weight_gradient(const Linear& linear, std::int64_t rows, Operand dy, Operand x, bool more = false);

  private:
    NativeContext& context_;
    NativeParameters& parameters_;
};

}  // namespace wirewise
