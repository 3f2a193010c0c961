#include "model/strategy/plan.hpp"

#include <fmt/format.h>

#include <array>

#include "model/units/error.hpp"

namespace wirewise {

namespace {

constexpr std::array<std::string_view, 7> kStrategies{
    "single", "ddp", "zero1", "zero2", "fsdp", "fsdp_shard_grad_op", "hsdp"};
constexpr std::array<std::string_view, 3> kRuntimes{"native", "pytorch", "deepspeed"};
constexpr std::array<std::string_view, 4> kRecomputes{"none", "pointwise", "selective", "full"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view name) {
    for (std::size_t i = 0; i < N; ++i)
        if (names[i] == name) return static_cast<Enum>(i);
    return std::nullopt;
}

}  // namespace

std::string_view name_of(Strategy strategy) { return kStrategies[static_cast<std::size_t>(strategy)]; }
std::string_view name_of(Runtime runtime) { return kRuntimes[static_cast<std::size_t>(runtime)]; }
std::string_view name_of(Recompute recompute) { return kRecomputes[static_cast<std::size_t>(recompute)]; }

std::optional<Strategy> strategy_from(std::string_view name) {
    return find<Strategy>(kStrategies, name == "zero3" ? "fsdp" : name);
}
std::optional<Runtime> runtime_from(std::string_view name) { return find<Runtime>(kRuntimes, name); }
std::optional<Recompute> recompute_from(std::string_view name) { return find<Recompute>(kRecomputes, name); }

Sharding sharding_of(Strategy strategy) {
    switch (strategy) {
        case Strategy::single:
        case Strategy::ddp:
            return {};
        case Strategy::zero1:
            return {.optimizer = true};
        case Strategy::zero2:
            return {.gradients = true, .optimizer = true};
        case Strategy::fsdp_shard_grad_op:
            return {.parameters = true, .gradients = true, .optimizer = true};
        case Strategy::fsdp:
        case Strategy::hsdp:
            return {.parameters = true, .gradients = true, .optimizer = true, .reshard_after_forward = true};
    }
    return {};
}

Mesh mesh_for(Strategy strategy, int ranks, int shard_group) {
    ensure(ranks >= 1, "a mesh needs at least one rank");
    if (strategy == Strategy::single) {
        if (ranks == 1) return {};
        throw InputError("--strategy", fmt::format("single runs on one GPU, not on {}", ranks),
                         "write --gpus 1, or a strategy such as ddp");
    }
    if (strategy == Strategy::ddp) return {.replicate = ranks};
    if (strategy != Strategy::hsdp) return {.shard = ranks};
    if (shard_group < 1 || ranks % shard_group != 0)
        throw InputError("--shard-group", fmt::format("{} does not divide the {} GPUs", shard_group, ranks),
                         "write a divisor of the number of GPUs");
    return {.replicate = ranks / shard_group, .shard = shard_group};
}

}  // namespace wirewise
