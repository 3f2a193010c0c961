// What a plan keeps in host memory, and DeepSpeed's knobs.
#pragma once

#include <cstdint>
#include <optional>

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
    // ZeRO-3 as up to July 2021: see the ParameterFetch and PartitionReduce that read it.
    bool one_by_one = false;
    bool operator==(const DeepSpeedSettings&) const = default;
};

}  // namespace wirewise
