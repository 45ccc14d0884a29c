#include "gpu/device/whole_numbers.hpp"

#include <cfloat>
#include <limits>
#include <random>

#include "tests/catch.hpp"
#include "tests/gpu/device/naive_whole.hpp"

namespace tempera::gpu::whole_numbers_test {

namespace {

constexpr std::uint64_t limits[] = {input_squares, weight_squares, any_squares};

void check_row(const std::vector<float>& x, std::uint64_t most_squares) {
  const NaiveWhole expected = naive_whole(x, most_squares);
  const WholeRow row = whole_row(x.data(), x.size(), most_squares);
  REQUIRE(row.fits);
  CHECK(row.exponent == expected.exponent);
  CHECK(row.step() == std::ldexp(1.0F, -expected.exponent));
  std::uint64_t squares = 0;
  for (const auto number : expected.numbers) squares += static_cast<std::uint64_t>(number * number);
  CHECK(row.squares == squares);
  std::vector<std::int16_t> numbers(x.size(), 1);
  store_whole_row(row, x.data(), x.size(), numbers.data());
  CHECK(std::vector<std::int64_t>(numbers.begin(), numbers.end()) == expected.numbers);
}

}  // namespace

TEST_CASE("a row of whole numbers has the largest exponent that fits", "[integer]") {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const std::size_t size : {1U, 2U, 3U, 7U, 16U, 33U, 64U, 255U, 512U, 2050U}) {
    for (const int scale : {-140, -80, -66, -64, -50, -14, -1, 0, 1, 13, 40, 60}) {
      std::vector<float> x(size);
      for (float& value : x) value = std::ldexp(normal(random), scale);
      for (const auto limit : limits) check_row(x, limit);
      // One number far above the others, and all of one size, on a grid that has ties.
      x[size / 2] = std::ldexp(3.0F, scale + 10);
      for (const auto limit : limits) check_row(x, limit);
      for (float& value : x) {
        value = std::ldexp(static_cast<float>(static_cast<int>(random() % 4096) - 2048), scale);
      }
      for (const auto limit : limits) check_row(x, limit);
    }
  }
}

TEST_CASE("the edges of a row's limits are where they are said to be", "[integer]") {
  for (const auto limit : limits) {
    for (const float x : {32767.0F, 32767.25F, 32767.49F, 32767.5F, 32768.0F, 16383.75F, 0.5F, 1.5F,
                          -2.5F, FLT_MIN, FLT_TRUE_MIN, -0.0F, 0.0F, 0x1p-64F, 0x1.8p-64F}) {
      check_row({x}, limit);
      check_row({x, 1.0F}, limit);
      check_row(std::vector<float>(513, x), limit);
    }
  }
  // The sum of squares is exactly the limit of weights, and one more.
  check_row({32767.0F, 255.0F, 22.0F, 5.0F}, weight_squares);  // 2^30 - 1
  check_row({32767.0F, 255.0F, 22.0F, 5.0F, 1.0F}, weight_squares);
}

TEST_CASE("a row with a number that has no place does not fit", "[integer]") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float wrong : {infinity, -infinity, std::nanf(""), -std::nanf(""), 0x1p80F, FLT_MAX}) {
    for (const std::size_t size : {1U, 5U, 40U}) {
      for (std::size_t place = 0; place < size; ++place) {
        std::vector<float> x(size, 1.0F);
        x[place] = wrong;
        const WholeRow row = whole_row(x.data(), size, input_squares);
        CHECK_FALSE(row.fits);
        CHECK(std::isnan(row.step()));
        CHECK(std::isnan(whole_mean_of_squares(x.data(), size)));
      }
    }
  }
  // The largest that has one, alone: 32767 2^62 and a little.
  check_row({0x1.fffep76F}, any_squares);
  // Many of them have too large a sum.
  const std::vector<float> many(512, 0x1p76F);
  CHECK_FALSE(whole_row(many.data(), many.size(), weight_squares).fits);
  CHECK(whole_row(many.data(), many.size(), any_squares).fits);
}

}  // namespace tempera::gpu::whole_numbers_test
