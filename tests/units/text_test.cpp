#include <gtest/gtest.h>

#include <type_traits>

#include "model/units/dtype.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

static_assert(std::is_same_v<decltype(Bytes(1) / BytesPerSecond(1)), Seconds>);
static_assert(std::is_same_v<decltype(Flops(1) / Seconds(1)), FlopsPerSecond>);
template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
static_assert(!Addable<Bytes, Seconds>);
static_assert(!Addable<Seconds, Instant>);
static_assert(!std::is_convertible_v<double, Seconds>);
static_assert(3_GiB == 3_B * 1073741824);
static_assert(bytes_of(3, DType::bf16) == 6_B);

TEST(Text, ParsesQuantitiesWithTheirUnit) {
    EXPECT_EQ(parse_bytes("80 GiB", "x"), 80_GiB);
    EXPECT_EQ(parse_bytes("150109880320 B", "x").count(), 150109880320);
    EXPECT_EQ(parse_bytes("1.5GB", "x").count(), 1500000000);
    EXPECT_DOUBLE_EQ(parse_bandwidth("400 Gb/s", "x").value(), 50e9);
    EXPECT_DOUBLE_EQ(parse_seconds("3 us", "x").value(), 3e-6);
    EXPECT_DOUBLE_EQ(parse_flops_per_second("989.4 TFLOP/s", "x").value(), 989.4e12);
}

TEST(Text, RefusesWithPlaceProblemAndRemedy) {
    for (const char* bad : {"80", "", "GiB", "-1 GiB", "80 gallons", "1e30 TB", "nan GB"}) {
        try {
            parse_bytes(bad, "machine.json:/gpus/0/memory");
            ADD_FAILURE() << bad;
        } catch (const InputError& error) {
            EXPECT_EQ(error.place(), "machine.json:/gpus/0/memory");
            EXPECT_FALSE(error.problem().empty());
        }
    }
}

TEST(Text, ExactTextComesBack) {
    for (const std::int64_t count : {0LL, 1LL, 149557477376LL, 9000000000000000000LL})
        EXPECT_EQ(parse_bytes(exact_text(Bytes(count)), "x").count() / 1024, count / 1024);
    EXPECT_EQ(parse_bandwidth(exact_text(BytesPerSecond(20.6e9 / 3)), "x"), BytesPerSecond(20.6e9 / 3));
}

TEST(Text, ShortFormsReadWell) {
    EXPECT_EQ(to_text(86900785152_B), "86.9 GB");
    EXPECT_EQ(to_text(322_GBps), "322 GB/s");
    EXPECT_EQ(to_text(Seconds(0.4498)), "450 ms");
    EXPECT_EQ(to_text(Seconds(0)), "0 ns");
    EXPECT_EQ(with_commas(7241732096), "7,241,732,096");
    EXPECT_EQ(with_commas(-12345), "-12,345");
    EXPECT_EQ(with_commas(999), "999");
}

TEST(Quantity, OverflowIsAnErrorNeverAWrap) {
    const Bytes most(std::numeric_limits<std::int64_t>::max());
    EXPECT_THROW(most + 1_B, OverflowError);
    EXPECT_THROW(most * 2, OverflowError);
    EXPECT_THROW(Bytes(0) - most - most, OverflowError);
    EXPECT_THROW(to_instant(Seconds(1e9)), OverflowError);
    EXPECT_EQ(to_instant(3_us).count(), 3000000);
}

}  // namespace
}  // namespace wirewise
