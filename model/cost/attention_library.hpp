// The library that computes attention: what it reaches depends on its age more than on the GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/cost/cost_profile.hpp"

namespace wirewise {

// newest: what the profile describes (cuDNN, FlashAttention 3). flash2: written for Ampere's instructions.
// flash1: the first FlashAttention, and Triton's version of it.
enum class AttentionLibrary : std::uint8_t { newest, flash2, flash1 };

std::optional<AttentionLibrary> attention_library_from(std::string_view name);  // "flash", "flash2", "flash1"
std::string_view name_of(AttentionLibrary library);

// Shares of the dense half-precision peak that long causal attention reaches, forward and backward.
AttentionCosts attention_costs(const GpuModel& gpu, double forward, double backward, bool hopper_kernels);

// The profile with that library's attention; newest leaves it as it is.
CostProfile with_attention(CostProfile profile, const GpuModel& gpu, AttentionLibrary library);

FlopsPerSecond half_precision_peak(const GpuModel& gpu);

}  // namespace wirewise
