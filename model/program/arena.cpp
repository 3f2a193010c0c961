#include <algorithm>

#include "model/program/allocator.hpp"
#include "model/program/block_list.hpp"

namespace wirewise {

namespace {

constexpr std::int64_t kAlignment = 512;

class Arena final : public Allocator {
  public:
    Block allocate(Bytes bytes, StreamId pool, Lifetime lifetime) override {
        if (bytes == Bytes(0)) return {};
        const std::int64_t wanted = (bytes + Bytes(kAlignment - 1)).count() / kAlignment * kAlignment;
        const std::uint32_t index = arena_region(pool, lifetime);
        if (index >= regions_.size()) regions_.resize(index + 1);
        Region& region = regions_[index];
        std::uint32_t id = region.free.best_fit(wanted);
        if (id == FreeList::kNone) id = grow(region, index, wanted);
        region.free.erase(blocks_.at(id));
        if (blocks_.at(id).bytes > wanted) cut(region, id, wanted);
        blocks_.at(id).free = false;
        allocated_ += Bytes(wanted);
        return {blocks_.at(id).address, Bytes(wanted), index, id};
    }

    void drop(const Block& block) override { allocated_ -= block.bytes; }

    void reuse(const Block& block) override {
        if (block.address < 0) return;
        Region& region = regions_[blocks_.at(block.handle).pool];
        const std::uint32_t merged = give_back(blocks_, region.free, block.handle);
        if (blocks_.at(merged).next == MemoryBlock::kNone) region.last = merged;
    }

    Bytes allocated() const override { return allocated_; }
    Bytes reserved() const override { return reserved_; }

  private:
    struct Region {
        FreeList free;
        std::int64_t top = 0;
        std::uint32_t last = MemoryBlock::kNone;  // the block that ends at the top
    };

    // Raises the top until a free block of `wanted` bytes ends there.
    std::uint32_t grow(Region& region, std::uint32_t index, std::int64_t wanted) {
        const bool tail_free = region.last != MemoryBlock::kNone && blocks_.at(region.last).free;
        const std::int64_t missing = tail_free ? wanted - blocks_.at(region.last).bytes : wanted;
        const std::uint32_t added =
            blocks_.add({region.top, missing, region.last, MemoryBlock::kNone, index, false});
        if (region.last != MemoryBlock::kNone) blocks_.at(region.last).next = added;
        reserved_ += Bytes(missing);
        region.top += missing;
        return region.last = give_back(blocks_, region.free, added);
    }

    void cut(Region& region, std::uint32_t id, std::int64_t wanted) {
        const std::uint32_t rest = blocks_.split(id, wanted);
        region.free.insert(blocks_.at(rest), rest);
        if (region.last == id) region.last = rest;
    }

    BlockTable blocks_;
    std::vector<Region> regions_;
    Bytes allocated_, reserved_;
};

}  // namespace

std::unique_ptr<Allocator> make_arena() { return std::make_unique<Arena>(); }

}  // namespace wirewise
