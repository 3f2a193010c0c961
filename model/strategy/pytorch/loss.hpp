// Cross-entropy of the logits. transformers' ForCausalLMLoss: the logits in fp32, log_softmax, the negative
// log-likelihood of the shifted labels; others leave the logits in their own type, or compile the loss into
// one kernel each way, whose only saved matrix is the logits.
#pragma once

#include "model/strategy/plan.hpp"
#include "model/strategy/pytorch/tape.hpp"

namespace wirewise::eager {

Tensor causal_loss(Tape& tape, const Tensor& logits, const Tensor& labels, const LossSettings& settings);

}  // namespace wirewise::eager
