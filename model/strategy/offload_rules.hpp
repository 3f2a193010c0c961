// Which offload each runtime has.
#pragma once

#include <optional>
#include <string>

#include "model/strategy/plan.hpp"

namespace wirewise {

struct OffloadRefusal {
    std::string problem, remedy;
};

// Why the runtime cannot offload so under this strategy; nothing: it can.
std::optional<OffloadRefusal> offload_refusal(Runtime runtime, Strategy strategy, const Offload& offload);

// Throws InputError naming --offload.
void require_offload(const ParallelPlan& plan);

}  // namespace wirewise
