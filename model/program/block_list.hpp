// The bookkeeping that best-fit allocators share: blocks that tile their segments, each knowing its
// neighbours, and the free ones ordered by size and address. Deterministic; no allocation per call once warm.
#pragma once

#include <cstdint>
#include <vector>

namespace wirewise {

struct MemoryBlock {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    std::int64_t address = 0, bytes = 0;
    std::uint32_t previous = kNone, next = kNone;  // neighbours in the same segment
    std::uint32_t pool = 0;
    bool free = false;
    bool whole_segment() const { return previous == kNone && next == kNone; }
};

// Blocks by id; ids are reused.
class BlockTable {
  public:
    std::uint32_t add(const MemoryBlock& block);
    void remove(std::uint32_t id) { unused_.push_back(id); }
    MemoryBlock& at(std::uint32_t id) { return blocks_[id]; }
    // Cuts `id` after its first `bytes`; returns the rest, its new next neighbour.
    std::uint32_t split(std::uint32_t id, std::int64_t bytes);
    // Joins `id` and its next neighbour into `id`.
    void absorb_next(std::uint32_t id);

  private:
    std::vector<MemoryBlock> blocks_;
    std::vector<std::uint32_t> unused_;
};

// Free blocks of one pool. A sorted array: pools hold tens of free blocks, seldom thousands.
class FreeList {
  public:
    static constexpr std::uint32_t kNone = MemoryBlock::kNone;
    struct Entry {
        std::int64_t bytes, address;
        std::uint32_t id;
    };
    void insert(const MemoryBlock& block, std::uint32_t id);
    void erase(const MemoryBlock& block);
    // The smallest free block of at least `bytes`, the lowest of equals; kNone if there is none.
    std::uint32_t best_fit(std::int64_t bytes) const;
    const std::vector<Entry>& entries() const { return entries_; }

  private:
    std::vector<Entry>::iterator place_of(std::int64_t bytes, std::int64_t address);
    std::vector<Entry> entries_;
};

// Marks `id` free and merges it with free neighbours, keeping `list` true. Returns the merged block.
std::uint32_t give_back(BlockTable& table, FreeList& list, std::uint32_t id);

}  // namespace wirewise
