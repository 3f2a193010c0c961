// Counts every heap allocation of the process while it is switched on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wirewise::test {

bool allocations_are_counted();  // false under a sanitizer, which owns the heap
void count_allocations(bool on);
std::uint64_t allocation_count();
std::size_t largest_aligned_allocation();

}  // namespace wirewise::test
