// The rules of PyTorch's CUDA caching allocator. Sizes and conditions as in
// c10/cuda/CUDACachingAllocator.cpp; named there kMinBlockSize, kSmallSize, kSmallBuffer, kLargeBuffer,
// kMinLargeAlloc, kRoundLarge.
#include <array>

#include "model/program/allocator.hpp"
#include "model/program/block_list.hpp"

namespace wirewise {

namespace {

constexpr std::int64_t kRound = 512;                  // every size is a multiple
constexpr std::int64_t kSmallMost = 1 << 20;          // up to here from the small pool
constexpr std::int64_t kSmallSegment = 2 << 20;       // a segment of the small pool
constexpr std::int64_t kMediumSegment = 20 << 20;     // the segment for ...
constexpr std::int64_t kMediumBelow = 10 << 20;       // ... large-pool sizes below this
constexpr std::int64_t kLargeSegmentRound = 2 << 20;  // above, segments are rounded up to this

constexpr std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

constexpr std::int64_t segment_bytes(std::int64_t rounded) {
    if (rounded <= kSmallMost) return kSmallSegment;
    return rounded < kMediumBelow ? kMediumSegment : rounded_up(rounded, kLargeSegmentRound);
}

constexpr bool splits(bool small, std::int64_t remaining) {
    return small ? remaining >= kRound : remaining > kSmallMost;
}

class CachingAllocator final : public Allocator {
  public:
    explicit CachingAllocator(std::optional<Bytes> limit) : limit_(limit) {}

    Block allocate(Bytes bytes, StreamId pool, Lifetime) override {
        if (bytes == Bytes(0)) return {};
        const std::int64_t wanted = rounded_up((bytes + Bytes(kRound)).count() - kRound, kRound);
        const bool small = wanted <= kSmallMost;
        const std::size_t index = 2 * index_of(pool) + (small ? 0 : 1);
        if (index >= pools_.size()) pools_.resize(index + 1);
        FreeList& list = pools_[index];
        std::uint32_t id = list.best_fit(wanted);
        if (id == FreeList::kNone)
            id = new_segment(segment_bytes(wanted), static_cast<std::uint32_t>(index));
        else
            list.erase(blocks_.at(id));
        blocks_.at(id).free = false;
        if (splits(small, blocks_.at(id).bytes - wanted)) split_off(list, id, wanted);
        allocated_ += Bytes(blocks_.at(id).bytes);
        return {blocks_.at(id).address, Bytes(blocks_.at(id).bytes), 0, id};
    }

    void drop(const Block& block) override { allocated_ -= block.bytes; }

    void reuse(const Block& block) override {
        if (block.address < 0) return;
        give_back(blocks_, pools_[blocks_.at(block.handle).pool], block.handle);
    }

    Bytes allocated() const override { return allocated_; }
    Bytes reserved() const override { return reserved_; }

  private:
    // Segments lie in driver order; their addresses are never used again, so that no two ever touch.
    std::uint32_t new_segment(std::int64_t bytes, std::uint32_t pool) {
        if (limit_ && reserved_ + Bytes(bytes) > *limit_) release_cached();
        reserved_ += Bytes(bytes);
        const std::int64_t address = next_address_;
        next_address_ += bytes;
        return blocks_.add({address, bytes, MemoryBlock::kNone, MemoryBlock::kNone, pool, false});
    }

    void split_off(FreeList& list, std::uint32_t id, std::int64_t wanted) {
        const std::uint32_t rest = blocks_.split(id, wanted);
        blocks_.at(rest).free = true;
        list.insert(blocks_.at(rest), rest);
    }

    // Segments with no live block go back to the driver, in all pools.
    void release_cached() {
        for (FreeList& list : pools_) {
            const std::vector<FreeList::Entry> entries = list.entries();
            for (const FreeList::Entry& entry : entries) {
                const MemoryBlock block = blocks_.at(entry.id);
                if (!block.whole_segment()) continue;
                list.erase(block);
                blocks_.remove(entry.id);
                reserved_ -= Bytes(block.bytes);
            }
        }
    }

    std::optional<Bytes> limit_;
    BlockTable blocks_;
    std::vector<FreeList> pools_;  // stream x (small, large)
    std::int64_t next_address_ = 0;
    Bytes allocated_, reserved_;
};

}  // namespace

std::unique_ptr<Allocator> make_caching_allocator(std::optional<Bytes> limit) {
    return std::make_unique<CachingAllocator>(limit);
}

}  // namespace wirewise
