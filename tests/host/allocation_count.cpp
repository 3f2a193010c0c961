#include "tests/host/allocation_count.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace wirewise::test {

namespace {
std::atomic<bool> counting{false};
std::atomic<std::uint64_t> count{0};
std::atomic<std::size_t> largest{0};

void note(std::size_t aligned_bytes) {
    if (!counting.load(std::memory_order_relaxed)) return;
    count.fetch_add(1, std::memory_order_relaxed);
    std::size_t known = largest.load();
    while (known < aligned_bytes && !largest.compare_exchange_weak(known, aligned_bytes)) {
    }
}
}  // namespace

void count_allocations(bool on) {
    count = 0;
    largest = 0;
    counting = on;
}
std::uint64_t allocation_count() { return count; }
std::size_t largest_aligned_allocation() { return largest; }

#if defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

bool allocations_are_counted() { return true; }

}  // namespace wirewise::test

// operator new, Eigen and the C library all end here.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
    wirewise::test::note(0);
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    wirewise::test::note(0);
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
    wirewise::test::note(0);
    return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    wirewise::test::note(bytes);
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
    wirewise::test::note(bytes);
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}
}

#else

bool allocations_are_counted() { return false; }

}  // namespace wirewise::test

#endif
