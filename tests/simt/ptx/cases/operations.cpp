// What each instruction computes, by the PTX ISA's words: its corners, and naive recomputation.
#include "lab/ptx/operations.hpp"

#include <random>

#include "tests/catch.hpp"

namespace tempera::lab::ptx {

TEST_CASE("shifts by as many places as there are, or more, leave zero or the sign") {
  CHECK(shifted_left(std::uint32_t{3}, 31) == 0x80000000U);
  CHECK(shifted_left(std::uint32_t{3}, 32) == 0);
  CHECK(shifted_left(std::uint64_t{3}, 32) == 0x300000000ULL);
  CHECK(shifted_left(std::uint64_t{3}, 64) == 0);
  CHECK(shifted_left(std::uint16_t{3}, 15) == 0x8000U);
  CHECK(shifted_right(std::uint32_t{0x80000000U}, 31) == 1);
  CHECK(shifted_right(std::uint32_t{0x80000000U}, 32) == 0);
  CHECK(shifted_right(std::int32_t{-8}, 2) == -2);
  CHECK(shifted_right(std::int32_t{-8}, 40) == -1);
  CHECK(shifted_right(std::int64_t{8}, 64) == 0);
  CHECK(funnel_left(0x89ABCDEFU, 0x01234567U, 8) == 0x23456789U);
  CHECK(funnel_right(0x89ABCDEFU, 0x01234567U, 8) == 0x6789ABCDU);
  CHECK(funnel_left(1, 2, 32) == 2);  // by 32 modulo 32
  CHECK(funnel_right(1, 2, 32) == 1);
}

TEST_CASE("bytes are permuted, and bits are looked up in a table of three") {
  CHECK(permuted(0x33221100U, 0x77665544U, 0x3210U) == 0x33221100U);
  CHECK(permuted(0x33221100U, 0x77665544U, 0x7654U) == 0x77665544U);
  CHECK(permuted(0x33221100U, 0x77665544U, 0x0526U) == 0x00552266U);
  CHECK(permuted(0x00008000U, 0, 0x9999U) == 0xFFFFFFFFU);  // the sign of byte 1, four times
  CHECK(permuted(0x00007000U, 0, 0x9999U) == 0);
  std::mt19937 random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const auto a = static_cast<std::uint32_t>(random());
    const auto b = static_cast<std::uint32_t>(random());
    const auto c = static_cast<std::uint32_t>(random());
    // The ISA's recipe: the table is the expression of 0xF0, 0xCC and 0xAA.
    CHECK(any_logic(a, b, c, 0xF0 & 0xCC & 0xAA) == (a & b & c));
    CHECK(any_logic(a, b, c, 0xF0 ^ 0xCC ^ 0xAA) == (a ^ b ^ c));
    CHECK(any_logic(a, b, c, (0xF0 & ~0xCC & 0xFF) | 0xAA) == ((a & ~b) | c));
  }
}

TEST_CASE("fields of bits are taken out and put in") {
  CHECK(field(std::uint32_t{0x12345678U}, 8, 12) == 0x456U);
  CHECK(field(std::uint32_t{0x12345678U}, 8, 0) == 0);
  CHECK(field(std::uint32_t{0x92345678U}, 28, 12) == 9);
  CHECK(field(std::uint32_t{5}, 40, 3) == 0);
  CHECK(field(std::int32_t{0x12348678}, 8, 8) == static_cast<std::int32_t>(0xFFFFFF86U));
  CHECK(field(std::int32_t{-2}, 31, 5) == -1);
  CHECK(field(std::int32_t{-2}, 40, 3) == -1);
  CHECK(field(std::int32_t{-2}, 0, 0) == 0);
  CHECK(field(std::uint64_t{0xF000000000000000ULL}, 60, 8) == 15);
  CHECK(inserted(std::uint32_t{0xAB}, std::uint32_t{0xFFFFFFFFU}, 8, 8) == 0xFFFFABFFU);
  CHECK(inserted(std::uint32_t{0xAB}, std::uint32_t{0}, 28, 8) == 0xB0000000U);
  CHECK(inserted(std::uint32_t{0xAB}, std::uint32_t{7}, 40, 8) == 7);
  CHECK(inserted(std::uint64_t{1}, std::uint64_t{0}, 63, 4) == 0x8000000000000000ULL);
}

TEST_CASE("whole numbers: high halves, quotients, and what floats become") {
  CHECK(high_product(std::uint32_t{0xFFFFFFFFU}, std::uint32_t{0xFFFFFFFFU}) == 0xFFFFFFFEU);
  CHECK(high_product(std::int32_t{-1}, std::int32_t{1}) == -1);
  CHECK(high_product(std::uint64_t{1} << 63, std::uint64_t{6}) == 3);
  CHECK(high_product(std::int64_t{-1}, std::int64_t{5}) == -1);
  CHECK(quotient(std::int32_t{-7}, std::int32_t{2}) == -3);
  CHECK(remainder(std::int32_t{-7}, std::int32_t{2}) == -1);
  CHECK(quotient(std::numeric_limits<std::int32_t>::min(), std::int32_t{-1}) ==
        std::numeric_limits<std::int32_t>::min());
  CHECK(whole<std::uint32_t>(-1.5) == 0);
  CHECK(whole<std::uint32_t>(4294967295.5) == 0xFFFFFFFFU);
  CHECK(whole<std::uint32_t>(1e20F) == 0xFFFFFFFFU);
  CHECK(whole<std::uint32_t>(2.9F) == 2);
  CHECK(whole<std::int32_t>(-2.9) == -2);
  CHECK(whole<std::int32_t>(-1e10F) == std::numeric_limits<std::int32_t>::min());
  CHECK(whole<std::int32_t>(2147483648.0F) == std::numeric_limits<std::int32_t>::max());
  CHECK(whole<std::uint64_t>(18446744073709549568.0) == 18446744073709549568ULL);
  CHECK(whole<std::uint64_t>(0x1p64) == ~0ULL);
  CHECK(whole<std::uint32_t>(std::nanf("")) == 0);
  CHECK(whole<std::int64_t>(std::nan("")) == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("the least and the greatest of two numbers: zeros have signs, and no number loses") {
  const float none = std::nanf("");
  CHECK(std::signbit(least(0.0F, -0.0F)));
  CHECK_FALSE(std::signbit(greatest(-0.0F, 0.0F)));
  CHECK(least(none, 3.0F) == 3.0F);
  CHECK(greatest(3.0, std::nan("")) == 3.0);
  CHECK(std::isnan(greatest(none, none)));
  CHECK(greatest(-1.0F, 2.0F) == 2.0F);
  CHECK(least(-1.0, 2.0) == -1.0);
  CHECK(is_unordered(none, 1.0F));
  CHECK_FALSE(is_unordered(1.0F, 1.0F));
}

}  // namespace tempera::lab::ptx
