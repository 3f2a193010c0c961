#include "model/program/walk.hpp"

#include <algorithm>
#include <utility>

namespace wirewise {

// One program's walk. The buffers to free after each op form linked lists, so that a walk allocates a few
// arrays only.
class MemoryWalk::Step {
  public:
    Step(MemoryWalk& walk, const StepProgram& program, const Wanted& wanted)
        : walk_(walk),
          program_(program),
          wanted_(wanted),
          live_(liveness(program)),
          blocks_(program.buffers.size()),
          first_freed_(program.ops.size() + 1, Liveness::kNever),
          next_freed_(program.buffers.size(), Liveness::kNever) {
        keep_residents();
        for (std::size_t b = program.buffers.size(); b-- > 0;)
            if (live_.freed_at[b] != Liveness::kNever)
                next_freed_[b] =
                    std::exchange(first_freed_[live_.freed_at[b]], static_cast<std::uint32_t>(b));
        for (std::uint32_t b = 0; b < program.buffers.size(); ++b)
            if (live_.dropped_at[b] != live_.freed_at[b]) dropped_early_.push_back(b);
        std::ranges::stable_sort(dropped_early_, std::greater<>(),
                                 [&](std::uint32_t b) { return live_.dropped_at[b]; });
        if (wanted.allocated_by_op) wanted.allocated_by_op->assign(program.ops.size(), Bytes(0));
    }

    MemoryPeak run() && {
        peak_.phase = program_.phase;
        note(0);
        for (std::size_t i = 0; i < program_.ops.size(); ++i) {
            for (const Operand& operand : program_.operands_of(program_.ops[i]))
                if (live_.born_at[index_of(operand.buffer)] == i) bring_to_life(index_of(operand.buffer));
            note(i);
            if (wanted_.allocated_by_op) (*wanted_.allocated_by_op)[i] = walk_.allocated();
            let_go(i);
        }
        let_go(program_.ops.size());
        if (wanted_.placements) tell_placements();
        if (!program_.ops.empty()) peak_.at = place_of(program_.ops[index_of(peak_.op)]);
        return std::move(peak_);
    }

  private:
    void keep_residents() {
        if (walk_.residents_.size() < program_.buffers.size())
            walk_.residents_.resize(program_.buffers.size());
        for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
            const Resident& resident = walk_.residents_[b];
            if (!resident.live) continue;
            ensure(program_.buffers[b].lifetime == Lifetime::persistent &&
                       program_.buffers[b].bytes == resident.asked,
                   "programs of one plan give a persistent buffer the same id and size");
            live_.born_at[b] = Liveness::kNever;
            blocks_[b] = resident.block;
        }
    }

    void bring_to_life(std::size_t b) {
        live_.born_at[b] = Liveness::kNever;  // an op may name it twice
        const Buffer& buffer = program_.buffers[b];
        Block& block = blocks_[b];
        if (buffer.space == MemorySpace::host) {
            walk_.host_ += buffer.bytes;
        } else {
            block = walk_.allocator_->allocate(buffer.bytes, buffer.home, buffer.lifetime);
            walk_.alive_[index_of(buffer.role)] += block.bytes;
        }
        if (buffer.lifetime == Lifetime::persistent) walk_.residents_[b] = {block, buffer.bytes, true};
    }

    void let_go(std::size_t after) {
        for (; !dropped_early_.empty() && live_.dropped_at[dropped_early_.back()] == after;
             dropped_early_.pop_back())
            drop(dropped_early_.back());
        for (std::uint32_t b = first_freed_[after]; b != Liveness::kNever; b = next_freed_[b]) {
            if (live_.dropped_at[b] == after) drop(b);
            if (program_.buffers[b].space == MemorySpace::device) walk_.allocator_->reuse(blocks_[b]);
        }
    }

    void drop(std::uint32_t b) {
        walk_.residents_[b].live = false;
        const Buffer& buffer = program_.buffers[b];
        if (buffer.space == MemorySpace::host) {
            walk_.host_ -= buffer.bytes;
            return;
        }
        walk_.allocator_->drop(blocks_[b]);
        walk_.alive_[index_of(buffer.role)] -= blocks_[b].bytes;
    }

    void tell_placements() const {
        wanted_.placements->clear();
        for (const Block& block : blocks_)
            wanted_.placements->push_back({block.address, block.bytes, block.region});
    }

    void note(std::size_t op) {
        peak_.reserved = std::max(peak_.reserved, walk_.reserved());
        peak_.host = std::max(peak_.host, walk_.host());
        if (walk_.allocated() <= peak_.allocated) return;
        peak_.allocated = walk_.allocated();
        peak_.breakdown = walk_.alive_;
        peak_.op = static_cast<OpId>(op);
    }

    MemoryWalk& walk_;
    const StepProgram& program_;
    const Wanted& wanted_;
    Liveness live_;
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> first_freed_, next_freed_;
    std::vector<std::uint32_t> dropped_early_;  // that count no longer before they are freed, the last first
    MemoryPeak peak_{};
};

MemoryWalk::MemoryWalk(std::unique_ptr<Allocator> allocator) : allocator_(std::move(allocator)) {
    ensure(allocator_ != nullptr, "a walk needs an allocator");
}
MemoryWalk::~MemoryWalk() = default;
MemoryWalk::MemoryWalk(MemoryWalk&&) noexcept = default;
MemoryWalk& MemoryWalk::operator=(MemoryWalk&&) noexcept = default;

MemoryPeak MemoryWalk::run(const StepProgram& program, const Wanted& wanted) {
    MemoryPeak here = Step(*this, program, wanted).run();
    const Bytes reserved = std::max(peak_.reserved, here.reserved), host = std::max(peak_.host, here.host);
    if (here.allocated > peak_.allocated) peak_ = here;
    peak_.reserved = reserved;
    peak_.host = host;
    return here;
}

}  // namespace wirewise
