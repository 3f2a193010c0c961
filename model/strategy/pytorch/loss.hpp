// ForCausalLMLoss: the logits in fp32, log_softmax, the negative log-likelihood of the shifted labels.
#pragma once

#include "model/strategy/pytorch/tape.hpp"

namespace wirewise::eager {

Tensor causal_loss(Tape& tape, const Tensor& logits, const Tensor& labels);

}  // namespace wirewise::eager
