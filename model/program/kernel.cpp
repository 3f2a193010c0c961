#include "model/program/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/program/hash.hpp"

namespace wirewise {

namespace {

constexpr std::array<std::string_view, 3> kLayouts{"forward", "data_gradient", "weight_gradient"};
constexpr std::array<std::string_view, 23> kPointwise{"embedding_forward",
                                                      "embedding_backward",
                                                      "position_add",
                                                      "position_backward",
                                                      "norm_forward",
                                                      "norm_recompute",
                                                      "norm_backward",
                                                      "rope_forward",
                                                      "rope_backward",
                                                      "head_norm_forward",
                                                      "head_norm_backward",
                                                      "activation_forward",
                                                      "activation_backward",
                                                      "add",
                                                      "cross_entropy",
                                                      "cross_entropy_forward",
                                                      "cast",
                                                      "copy",
                                                      "fill_zero",
                                                      "accumulate",
                                                      "scale",
                                                      "squared_norm",
                                                      "clip_scale"};
constexpr std::array<std::string_view, 4> kAccess{"vector", "broadcast", "reduction", "gather"};
constexpr std::array<std::string_view, 5> kActivations{"silu", "gelu", "gelu_tanh", "relu", "relu_squared"};
constexpr std::array<std::string_view, 4> kOptimizers{"adamw_fused", "adamw_foreach", "adamw_8bit", "sgd"};

// Query-key pairs of one head: half of the square under the causal mask; a window w keeps w keys per query
// once there are that many (w s - w^2 / 2, which meets s^2 / 2 at w = s).
double attended_pairs(const Attention& attention) {
    const double s = static_cast<double>(attention.sequence);
    if (attention.masked) return s * s;
    const double w = attention.window > 0 ? std::min(static_cast<double>(attention.window), s) : s;
    return w * s - w * w / 2;
}

// Two products forward (q k, p v); five backward: q k again, then dv, dp, dq, dk (Dao, FlashAttention-2,
// 2023).
Flops flops_of(const Attention& attention) {
    const double key = static_cast<double>(attention.head_dim);
    const double value = static_cast<double>(attention.value_head_dim);
    const double heads = static_cast<double>(attention.batch) * static_cast<double>(attention.heads);
    const double per_pair = attention.backward ? 6 * key + 4 * value : 2 * key + 2 * value;
    return Flops(heads * attended_pairs(attention) * per_pair);
}

Flops flops_of(const Gemm& gemm) {
    return Flops(2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                 static_cast<double>(gemm.k));
}
Flops flops_of(const Pointwise&) { return Flops(0); }
Flops flops_of(const OptimizerUpdate&) { return Flops(0); }

void add_to(Hash& hash, const Gemm& g) {
    hash.add(g.layout, g.m, g.n, g.k, g.type, g.result, g.accumulate, g.bias, g.addend);
    if (g.groups > 1) hash.add(g.groups);
}
void add_to(Hash& hash, const Attention& a) {
    hash.add(a.backward, a.batch, a.sequence, a.heads, a.kv_heads, a.head_dim, a.value_head_dim, a.window,
             a.masked, a.type);
}
void add_to(Hash& hash, const Pointwise& p) {
    hash.add(p.kind, p.access, p.activation, p.gated, p.accumulate, p.rows, p.columns, p.traffic.count(),
             p.type);
}
void add_to(Hash& hash, const OptimizerUpdate& u) {
    hash.add(u.kind, u.count, u.parameter, u.gradient, u.state, u.master, u.traffic.count());
}

std::string text_of(const Gemm& g) {
    std::string text = fmt::format("gemm {} {}x{}x{} {}", name_of(g.layout), g.m, g.n, g.k, name_of(g.type));
    if (g.result != g.type) text += fmt::format(" to {}", name_of(g.result));
    if (g.bias) text += " bias";
    if (g.addend) text += " addend";
    if (g.accumulate) text += " accumulate";
    if (g.groups > 1) text += fmt::format(" in {} groups", g.groups);
    return text;
}
std::string text_of(const Attention& a) {
    std::string text = fmt::format("attention {} batch {} sequence {} heads {}/{} dim {}",
                                   a.backward ? "backward" : "forward", a.batch, a.sequence, a.heads,
                                   a.kv_heads, a.head_dim);
    if (a.value_head_dim != a.head_dim) text += fmt::format("/{}", a.value_head_dim);
    if (a.window > 0) text += fmt::format(" window {}", a.window);
    if (a.masked) text += " masked";
    return text + fmt::format(" {}", name_of(a.type));
}
std::string text_of(const Pointwise& p) {
    std::string text(name_of(p.kind));
    if (p.kind == PointwiseKind::activation_forward || p.kind == PointwiseKind::activation_backward)
        text += fmt::format(" {}{}", name_of(p.activation), p.gated ? " gated" : "");
    if (p.accumulate) text += " accumulate";
    return text + fmt::format(" {}x{} {} {} {} B", p.rows, p.columns, name_of(p.type), name_of(p.access),
                              p.traffic.count());
}
std::string text_of(const OptimizerUpdate& u) {
    return fmt::format("{} {} parameter {} gradient {} state {}{} {} B", name_of(u.kind), u.count,
                       name_of(u.parameter), name_of(u.gradient), name_of(u.state), u.master ? " master" : "",
                       u.traffic.count());
}

}  // namespace

Flops flops_of(const Kernel& kernel) {
    return std::visit([](const auto& work) { return flops_of(work); }, kernel);
}

std::uint64_t hash_of(const Kernel& kernel) {
    Hash hash;
    hash.add(kernel.index());
    std::visit([&](const auto& work) { add_to(hash, work); }, kernel);
    return hash.value();
}

std::string_view name_of(GemmLayout layout) { return kLayouts.at(static_cast<std::size_t>(layout)); }
std::string_view name_of(PointwiseKind kind) {
    return kind == PointwiseKind::eager ? "eager" : kPointwise.at(static_cast<std::size_t>(kind));
}
std::string_view name_of(AccessClass access) { return kAccess.at(static_cast<std::size_t>(access)); }
std::string_view name_of(ActivationKind kind) { return kActivations.at(static_cast<std::size_t>(kind)); }
std::string_view name_of(OptimizerKind kind) { return kOptimizers.at(static_cast<std::size_t>(kind)); }

std::string to_text(const Kernel& kernel) {
    return std::visit([](const auto& work) { return text_of(work); }, kernel);
}

}  // namespace wirewise
