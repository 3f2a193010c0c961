#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/program/verify_checks.hpp"

namespace wirewise {

namespace {

std::unique_ptr<Allocator> allocator_of(FreeRule rule) {
    return rule == FreeRule::after_join ? make_arena() : make_caching_allocator();
}

}  // namespace

MemoryCheck::MemoryCheck(const StepProgram& program)
    : program_(program),
      streams_(program.streams.size()),
      live_(liveness(program)),
      by_free_(program.buffers.size()),
      uses_(program.buffers.size() * streams_, 0),
      before_(program.buffers.size() * streams_, 0),
      told_(program.buffers.size(), false) {
    MemoryWalk(allocator_of(program.free_rule)).run(program, {.placements = &places_});
    std::iota(by_free_.begin(), by_free_.end(), 0);
    std::stable_sort(by_free_.begin(), by_free_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return live_.freed_at[a] < live_.freed_at[b]; });
}

void MemoryCheck::visit(std::size_t index, const StreamOrder& order, FaultNotes& notes) {
    const Op& op = program_.ops[index];
    for (const Operand& operand : program_.operands_of(op)) {
        const std::size_t buffer = index_of(operand.buffer);
        if (live_.born_at[buffer] == index) settle(buffer);
        if (!touches_bytes(op)) continue;
        uses(buffer)[index_of(op.stream)] = static_cast<Point>(index + 1);
        // Reads follow a write, or AccessCheck tells.
        if (operand.access != Access::read) check_reuse(buffer, index, order, notes);
    }
    for (; freed_ < by_free_.size() && live_.freed_at[by_free_[freed_]] <= index; ++freed_)
        free(by_free_[freed_], index, order, notes);
}

void MemoryCheck::settle(std::size_t buffer) {
    live_.born_at[buffer] = Liveness::kNever;  // an op may name it twice
    if (!placed(buffer)) return;
    const BufferPlace& place = places_[buffer];
    dead_.take(place.region, place.address, place.address + place.bytes.count(), [&](std::uint32_t other) {
        for (std::size_t s = 0; s < streams_; ++s)
            before(buffer)[s] = std::max(before(buffer)[s], uses(other)[s]);
    });
}

void MemoryCheck::check_reuse(std::size_t buffer, std::size_t index, const StreamOrder& order,
                              FaultNotes& notes) {
    const StreamId here = program_.ops[index].stream;
    const Point* known = order.known(here);
    for (std::size_t s = 0; s < streams_ && !told_[buffer]; ++s) {
        if (before(buffer)[s] <= known[s]) continue;
        told_[buffer] = true;
        notes.add(FaultKind::freed_early, index,
                  fmt::format("uses {} on stream {} in memory that op {} on stream {} may still be using",
                              buffer_text(program_, static_cast<BufferId>(buffer)),
                              program_.streams[index_of(here)].name, before(buffer)[s] - 1,
                              program_.streams[s].name));
    }
}

void MemoryCheck::free(std::size_t buffer, std::size_t index, const StreamOrder& order, FaultNotes& notes) {
    if (!placed(buffer)) return;
    if (program_.buffers[buffer].followed)  // the allocator itself waited
        std::fill_n(uses(buffer), streams_, Point{0});
    const Point* known = order.known(program_.buffers[buffer].home);
    for (std::size_t s = 0; s < streams_; ++s) {
        if (uses(buffer)[s] <= known[s]) continue;
        notes.add(FaultKind::freed_early, index,
                  fmt::format("frees {} for stream {} while op {} on stream {} may still be using it",
                              buffer_text(program_, static_cast<BufferId>(buffer)),
                              program_.streams[index_of(program_.buffers[buffer].home)].name,
                              uses(buffer)[s] - 1, program_.streams[s].name));
        uses(buffer)[s] = 0;  // told: not once more when the memory is reused
    }
    const BufferPlace& place = places_[buffer];
    dead_.leave(place.region, place.address, place.address + place.bytes.count(),
                static_cast<std::uint32_t>(buffer));
}

}  // namespace wirewise
