#include "model/transformer/parts.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

namespace {
// Each weight multiplies once forward (2 FLOPs), once for each of the two gradients: 6 per parameter and
// token.
constexpr double kFlopsPerWeight = 6;

double matmul_weights(const std::vector<Parameter>& parameters, const MlpShape& mlp) {
    double weights = 0;
    for (const auto& parameter : parameters) {
        if (!is_matmul(parameter)) continue;
        const double share = is_routed_expert(parameter)
                                 ? static_cast<double>(mlp.top_k) / static_cast<double>(mlp.experts)
                                 : 1;
        weights += share * static_cast<double>(parameter.count());
    }
    return weights;
}

// Tokens that a query sees, averaged over a sequence of s: s/2 under a full causal mask; a sliding window of
// w < s sees (s w - w^2/2) / s; a chunk of c < s restarts, so c/2.
double mean_tokens_seen(const AttentionShape& attention, double sequence) {
    const auto window = static_cast<double>(attention.window);
    if (attention.window == 0 || window >= sequence) return sequence / 2;
    return attention.chunked ? window / 2 : window - window * window / (2 * sequence);
}

// Scores (width of q and k) and the weighted sum of v, each 2 FLOPs a number and token seen, three times as
// for weights.
double attention_flops(const AttentionShape& attention, double sequence) {
    const auto width = static_cast<double>(attention.query_width() + attention.output_width());
    return kFlopsPerWeight * width * mean_tokens_seen(attention, sequence);
}

double head_weights(const Transformer& model) {
    if (!model.tied_embeddings) return 0;  // counted where it stands
    const Parameter* table = find(model.root_before, ParameterUse::embedding);
    return table ? static_cast<double>(table->count()) : 0;
}
}  // namespace

double model_flops_per_token(const Transformer& model, std::int64_t sequence_length) {
    const auto sequence = static_cast<double>(sequence_length);
    std::vector<double> of_kind;
    for (const auto& kind : model.kinds)
        of_kind.push_back(kFlopsPerWeight * matmul_weights(kind.parameters, kind.mlp) +
                          attention_flops(kind.attention, sequence));
    double flops = kFlopsPerWeight * (matmul_weights(model.root_before, {}) +
                                      matmul_weights(model.root_after, {}) + head_weights(model));
    for (auto kind : model.layers) flops += of_kind[kind];
    return flops;
}

}  // namespace wirewise
