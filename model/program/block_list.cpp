#include "model/program/block_list.hpp"

#include <algorithm>

namespace wirewise {

std::uint32_t BlockTable::add(const MemoryBlock& block) {
    if (unused_.empty()) {
        blocks_.push_back(block);
        return static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    const std::uint32_t id = unused_.back();
    unused_.pop_back();
    blocks_[id] = block;
    return id;
}

std::uint32_t BlockTable::split(std::uint32_t id, std::int64_t bytes) {
    const MemoryBlock whole = at(id);
    const std::uint32_t rest =
        add({whole.address + bytes, whole.bytes - bytes, id, whole.next, whole.pool, whole.free});
    if (whole.next != MemoryBlock::kNone) at(whole.next).previous = rest;
    at(id).bytes = bytes;
    at(id).next = rest;
    return rest;
}

void BlockTable::absorb_next(std::uint32_t id) {
    const std::uint32_t gone = at(id).next;
    at(id).bytes += at(gone).bytes;
    at(id).next = at(gone).next;
    if (at(id).next != MemoryBlock::kNone) at(at(id).next).previous = id;
    remove(gone);
}

std::vector<FreeList::Entry>::iterator FreeList::place_of(std::int64_t bytes, std::int64_t address) {
    return std::lower_bound(
        entries_.begin(), entries_.end(), std::pair(bytes, address),
        [](const Entry& entry, const auto& key) { return std::pair(entry.bytes, entry.address) < key; });
}

void FreeList::insert(const MemoryBlock& block, std::uint32_t id) {
    entries_.insert(place_of(block.bytes, block.address), {block.bytes, block.address, id});
}

void FreeList::erase(const MemoryBlock& block) { entries_.erase(place_of(block.bytes, block.address)); }

std::uint32_t FreeList::best_fit(std::int64_t bytes) const {
    const auto found =
        std::lower_bound(entries_.begin(), entries_.end(), bytes,
                         [](const Entry& entry, std::int64_t size) { return entry.bytes < size; });
    return found == entries_.end() ? kNone : found->id;
}

std::uint32_t give_back(BlockTable& table, FreeList& list, std::uint32_t id) {
    const auto is_free = [&](std::uint32_t other) {
        return other != MemoryBlock::kNone && table.at(other).free;
    };
    if (const std::uint32_t next = table.at(id).next; is_free(next)) {
        list.erase(table.at(next));
        table.absorb_next(id);
    }
    if (const std::uint32_t previous = table.at(id).previous; is_free(previous)) {
        list.erase(table.at(previous));
        table.absorb_next(previous);
        id = previous;
    }
    table.at(id).free = true;
    list.insert(table.at(id), id);
    return id;
}

}  // namespace wirewise
