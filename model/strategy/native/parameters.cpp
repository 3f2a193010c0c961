#include "model/strategy/native/parameters.hpp"

namespace wirewise {

void NativeParameters::before_forward(Unit unit) {
    weights_.begin_forward();
    weights_.need(unit);
}

void NativeParameters::before_backward(Unit unit) {
    weights_.begin_backward();
    weights_.need(unit);
    gradients_.open(unit);
}

void NativeParameters::after_backward(Unit unit) {
    weights_.done(unit);
    gradients_.close(unit);
}

}  // namespace wirewise
