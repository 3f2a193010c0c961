// The allocators against sizes worked out by hand, and their invariants on random requests.
#include "model/program/allocator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace wirewise {
namespace {

constexpr StreamId kPool{0}, kOther{1};

Block take(Allocator& allocator, Bytes bytes, StreamId pool = kPool) {
    return allocator.allocate(bytes, pool, Lifetime::transient);
}

TEST(CachingAllocator, SmallSizesComeFromTwoMebibyteSegments) {
    const auto allocator = make_caching_allocator();
    EXPECT_EQ(take(*allocator, 1_B).bytes, 512_B);
    EXPECT_EQ(take(*allocator, 513_B).bytes, 1024_B);
    EXPECT_EQ(take(*allocator, 1_MiB).bytes, 1_MiB);  // fits behind the two
    EXPECT_EQ(allocator->reserved(), 2_MiB);
    take(*allocator, 1_MiB);  // 1 MiB less 1.5 KiB is left: a new segment
    EXPECT_EQ(allocator->reserved(), 4_MiB);
    EXPECT_EQ(allocator->allocated(), 2_MiB + 1536_B);
}

TEST(CachingAllocator, MediumSizesShareTwentyMebibyteSegments) {
    const auto allocator = make_caching_allocator();
    take(*allocator, 1_MiB + 1_B);
    EXPECT_EQ(allocator->reserved(), 20_MiB);
    take(*allocator, 10_MiB - 512_B);
    EXPECT_EQ(allocator->reserved(), 20_MiB);
    take(*allocator, 10_MiB);  // from 10 MiB on a segment of its own
    EXPECT_EQ(allocator->reserved(), 30_MiB);
}

TEST(CachingAllocator, LargeBlocksAreSplitOnlyWhenMoreThanOneMebibyteRemains) {
    const auto allocator = make_caching_allocator();
    EXPECT_EQ(take(*allocator, 11_MiB).bytes, 12_MiB);                  // 1 MiB would remain: not enough
    EXPECT_EQ(take(*allocator, 11_MiB - 512_B).bytes, 11_MiB - 512_B);  // 1 MiB and 512 B remain
    EXPECT_EQ(allocator->reserved(), 24_MiB);
}

TEST(CachingAllocator, TakesTheSmallestThatFitsAndMergesWhatIsFreed) {
    const auto allocator = make_caching_allocator();
    const Block big = take(*allocator, 40_MiB), small = take(*allocator, 30_MiB);
    allocator->free(big);
    allocator->free(small);
    const Block again = take(*allocator, 28_MiB);
    EXPECT_EQ(again.address, small.address);  // split: 2 MiB remain
    const Block tail = take(*allocator, 2_MiB);
    EXPECT_EQ(tail.address, small.address + (28_MiB).count());
    allocator->free(again);
    allocator->free(tail);
    EXPECT_EQ(take(*allocator, 30_MiB).address, small.address);
    EXPECT_EQ(allocator->reserved(), 70_MiB);
}

TEST(CachingAllocator, PoolsOfStreamsNeverShare) {
    const auto allocator = make_caching_allocator();
    allocator->free(take(*allocator, 30_MiB));
    take(*allocator, 30_MiB, kOther);
    EXPECT_EQ(allocator->reserved(), 60_MiB);
}

TEST(CachingAllocator, AtItsLimitReturnsCachedSegmentsFirst) {
    const auto allocator = make_caching_allocator(100_MiB);
    const Block kept = take(*allocator, 40_MiB);
    allocator->free(take(*allocator, 50_MiB, kOther));
    take(*allocator, 60_MiB);
    EXPECT_EQ(allocator->reserved(), 100_MiB);  // the cached 50 MiB went back
    take(*allocator, 12_MiB);
    EXPECT_EQ(allocator->reserved(), 112_MiB);  // out of memory by 12 MiB
    allocator->free(kept);
    EXPECT_EQ(allocator->allocated(), 72_MiB);
}

TEST(CachingAllocator, KeepsSegmentsThatAreInUseAtItsLimit) {
    const auto allocator = make_caching_allocator(40_MiB);
    const Block front = take(*allocator, 2_MiB), back = take(*allocator, 2_MiB);
    allocator->free(front);  // its segment of 20 MiB still holds `back`
    take(*allocator, 24_MiB);
    EXPECT_EQ(allocator->reserved(), 44_MiB);
    allocator->free(back);
    take(*allocator, 24_MiB);
    EXPECT_EQ(allocator->reserved(), 48_MiB);
}

TEST(Arena, AlignsGrowsAndReusesBestFit) {
    const auto arena = make_arena();
    const Block a = take(*arena, 1_B), b = take(*arena, 2048_B), c = take(*arena, 512_B),
                d = take(*arena, 1024_B);
    take(*arena, 512_B);
    EXPECT_EQ(a.bytes, 512_B);
    EXPECT_EQ(arena->reserved(), 4608_B);
    arena->free(b);
    arena->free(d);
    EXPECT_EQ(take(*arena, 700_B).address, d.address);
    EXPECT_EQ(take(*arena, 512_B).address, b.address);
    arena->free(c);  // merges with what is left of b
    EXPECT_EQ(take(*arena, 2048_B).address, b.address + 512);
    EXPECT_EQ(arena->reserved(), 4608_B);
}

TEST(Arena, ExtendsAFreeTail) {
    const auto arena = make_arena();
    const Block a = take(*arena, 1024_B), tail = take(*arena, 1024_B);
    arena->free(tail);
    EXPECT_EQ(take(*arena, 4096_B).address, tail.address);
    EXPECT_EQ(arena->reserved(), 5120_B);
    arena->free(a);
    EXPECT_EQ(arena->allocated(), 4096_B);
}

TEST(Arena, ExtendsTheRestOfASplitTail) {
    const auto arena = make_arena();
    take(*arena, 512_B);
    arena->free(take(*arena, 4096_B));
    const Block front = take(*arena, 1024_B);
    EXPECT_EQ(take(*arena, 8192_B).address, front.address + 1024);
    EXPECT_EQ(arena->reserved(), 512_B + 1024_B + 8192_B);
}

TEST(Arena, KeepsPersistentBuffersAndStreamsApart) {
    const auto arena = make_arena();
    arena->free(take(*arena, 1024_B));
    EXPECT_NE(arena->allocate(512_B, kPool, Lifetime::persistent).region, take(*arena, 512_B).region);
    EXPECT_NE(take(*arena, 512_B, kOther).region, take(*arena, 512_B).region);
    EXPECT_EQ(arena->reserved(), 1024_B + 512_B + 512_B);
    const Block released = arena->allocate(512_B, kOther, Lifetime::persistent);
    arena->free(released);
    EXPECT_NE(arena->allocate(512_B, kPool, Lifetime::persistent).region, released.region);
}

TEST(Allocators, GiveNoMemoryForNoBytes) {
    for (const auto& allocator : {make_arena().release(), make_caching_allocator().release()}) {
        const std::unique_ptr<Allocator> owner(allocator);
        const Block none = take(*owner, 0_B);
        EXPECT_EQ(none.address, -1);
        owner->free(none);
        EXPECT_EQ(owner->reserved(), 0_B);
    }
}

TEST(Allocators, RefuseSizesBeyondTheRange) {
    const Bytes most(std::numeric_limits<std::int64_t>::max());
    EXPECT_THROW(take(*make_arena(), most), OverflowError);
    EXPECT_THROW(take(*make_caching_allocator(), most), OverflowError);
}

// Random requests: sizes over all classes, two pools, frees in any order.
void check_invariants(std::unique_ptr<Allocator> allocator) {
    std::map<std::pair<std::uint32_t, std::int64_t>, Block> live;  // by region and address
    Bytes sum;
    const auto steps = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>());
    for (const std::uint32_t step : steps) {
        if (step % 3 == 0 && !live.empty()) {
            const auto victim = std::next(live.begin(), step / 3 % live.size());
            allocator->free(victim->second);
            sum -= victim->second.bytes;
            live.erase(victim);
        } else {
            const Bytes asked(1 + (std::int64_t(step) >> (step % 24)) % (64 << 20));
            const Block block = take(*allocator, asked, StreamId{static_cast<std::uint8_t>(step % 2)});
            RC_ASSERT(block.bytes >= asked);
            RC_ASSERT(block.address % 512 == 0);
            const auto [place, fresh] = live.insert({{block.region, block.address}, block});
            RC_ASSERT(fresh);
            const auto next = std::next(place);
            if (next != live.end() && next->first.first == block.region)
                RC_ASSERT(block.address + block.bytes.count() <= next->first.second);
            if (place != live.begin() && std::prev(place)->first.first == block.region)
                RC_ASSERT(std::prev(place)->first.second + std::prev(place)->second.bytes.count() <=
                          block.address);
            sum += block.bytes;
        }
        RC_ASSERT(allocator->allocated() == sum);
        RC_ASSERT(allocator->reserved() >= sum);
    }
    for (const auto& [key, block] : live) allocator->free(block);
    RC_ASSERT(allocator->allocated() == 0_B);
}

RC_GTEST_PROP(Arena, HoldsItsInvariants, ()) { check_invariants(make_arena()); }
RC_GTEST_PROP(CachingAllocator, HoldsItsInvariants, ()) { check_invariants(make_caching_allocator()); }
RC_GTEST_PROP(CachingAllocator, HoldsItsInvariantsAtALimit, ()) {
    check_invariants(make_caching_allocator(100_MiB));
}

}  // namespace
}  // namespace wirewise
