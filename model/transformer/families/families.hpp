// The groups of families, one source each, and the rows that most of them share.
#pragma once

#include "model/transformer/blueprint.hpp"
#include "model/transformer/family.hpp"

namespace wirewise {

std::vector<Family> llama_families();

namespace families {
using Use = ParameterUse;
using W = Width;

constexpr Row kTokenTable[] = {table("model.embed_tokens", Use::embedding, W::vocabulary, W::hidden)};
constexpr Row kNormAndHead[] = {
    norm("model.norm"),
    linear("lm_head", Use::head, W::vocabulary, W::hidden, trait::head_bias, trait::untied),
};
}  // namespace families

}  // namespace wirewise
