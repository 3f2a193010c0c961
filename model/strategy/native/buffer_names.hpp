// The names by which executors find the buffers that outlive a step: those they load, feed, read and save.
// Buffers of a unit also carry its layer.
#pragma once

#include <string_view>

namespace wirewise::native_buffer {

inline constexpr std::string_view parameters = "parameters";  // whole, or the rank's share
inline constexpr std::string_view gradients = "gradients";    // whole
inline constexpr std::string_view gradient_shard = "gradient shard";
inline constexpr std::string_view first_moment = "first moment";
inline constexpr std::string_view second_moment = "second moment";
inline constexpr std::string_view master = "master";
inline constexpr std::string_view tokens = "tokens";    // of one micro-batch
inline constexpr std::string_view targets = "targets";  // the token that follows each; negative: none
inline constexpr std::string_view loss = "loss";
inline constexpr std::string_view squared_norm = "squared gradient norm";

}  // namespace wirewise::native_buffer
