#include "simulator/planner/host_memory.hpp"

#include <fmt/format.h>

#include "model/units/text.hpp"

namespace wirewise {

HostMemory host_memory_of(const std::vector<PhasePeak>& phases, int ranks, Bytes limit) {
    HostMemory worst{Bytes(0), limit, Phase::load, ""};
    for (const PhasePeak& phase : phases) {
        const bool one_saves = phase.phase == Phase::save;
        const Bytes each = one_saves ? phase.host_kept : phase.peak.host;
        const Bytes alone = one_saves ? phase.peak.host - phase.host_kept : Bytes(0);
        const Bytes total = each * ranks + alone;
        if (total <= worst.peak) continue;
        worst.peak = total;
        worst.phase = phase.phase;
        worst.why = fmt::format("{} ranks x {}", ranks, to_text(each));
        if (alone > Bytes(0)) worst.why += fmt::format(" + {} of the rank that saves", to_text(alone));
    }
    return worst;
}

}  // namespace wirewise
