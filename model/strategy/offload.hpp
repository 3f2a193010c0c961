// What a plan keeps in host memory, and DeepSpeed's knobs.
#pragma once

#include <cstdint>
#include <optional>

#include "model/strategy/deepspeed_version.hpp"

namespace wirewise {

struct Offload {
    bool optimizer =
        false;  // master parameters, moments and the gradients they are updated with; the CPU updates
    bool parameters = false;  // this rank's share of the 16-bit parameters
    bool any() const { return optimizer || parameters; }
    bool operator==(const Offload&) const = default;
};

// Sizes in elements. Names and defaults are those of DeepSpeed's zero_optimization
// (deepspeed/runtime/zero/config.py, read 2026-11).
struct DeepSpeedSettings {
    std::int64_t reduce_bucket_size = 500'000'000;
    std::int64_t allgather_bucket_size = 500'000'000;
    std::optional<bool> overlap_comm;  // not said: stage 3 only
    std::int64_t prefetch_bucket_size = 50'000'000;
    std::int64_t param_persistence_threshold = 100'000;
    std::int64_t max_live_parameters = 1'000'000'000;
    std::int64_t max_reuse_distance = 1'000'000'000;
    std::int64_t sub_group_size = 1'000'000'000;
    std::optional<DeepSpeedVersion> version;  // not said: today's
    // ZeRO-3 up to 0.4.3 (July 2021): see ParameterFetch and PartitionReduce.
    bool one_by_one() const { return version && *version < DeepSpeedVersion{0, 5, 0}; }
    // ZeRO-3 kept its reduce bucket from the start (torch.empty in the optimizer's constructor) before there
    // was one for each type of gradients, seen from 0.17.2 on.
    bool keeps_bucket() const { return version && *version < DeepSpeedVersion{0, 17, 2}; }
    bool operator==(const DeepSpeedSettings&) const = default;
};

}  // namespace wirewise
