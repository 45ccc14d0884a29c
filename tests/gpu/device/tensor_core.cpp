#include "gpu/device/tensor_core.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gpu/llm/transformer/kernels/cuda/tensor_core_check.hpp"
#include "gpu/llm/transformer/kernels/cuda/tensor_core_operands.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/device/golden_steps.hpp"

namespace tempera::gpu::tensor_core_test {

namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

enum class Defect {
  none,
  one_bit_fewer,            // 24 bits instead of 25
  one_bit_more,             // 26
  result_rounded,           // to nearest instead of cut
  terms_rounded,            // to nearest instead of cut
  terms_cut_downwards,      // toward minus infinity, as a shift of a negative integer would
  c_not_aligned,            // joins the sum of the products afterwards
  zeros_have_exponents,     // a zero product raises the largest exponent as its factors do
  subnormals_flushed,       // factors below 2^-126 count as 0
  products_in_two_halves,   // eight at a time, as on Ampere
  exponent_of_the_product,  // normalised, instead of the sum of its factors'
};

/// hopper_step once more, by doubles: every term and every sum of cut ones is exact in them, since
/// 27 bits below the largest exponent are all that is kept.
float plain_step(const GoldenStep& vector, Defect defect) {
  const int fraction_bits = defect == Defect::one_bit_fewer  ? 24
                            : defect == Defect::one_bit_more ? 26
                                                             : 25;
  struct Term {
    double value;
    int exponent;
  };
  const auto exponent_of = [](double value) { return value == 0 ? -133 : std::ilogb(value); };
  const auto cut = [&](double value, bool rounded) {
    return rounded ? std::nearbyint(value) : std::trunc(value);
  };
  std::vector<Term> terms;
  for (int i = 0; i < step_products; ++i) {
    double left = from_bfloat16(vector.a[i]);
    double right = from_bfloat16(vector.b[i]);
    if (defect == Defect::subnormals_flushed) {
      if (std::abs(left) < 0x1p-126) left = 0;
      if (std::abs(right) < 0x1p-126) right = 0;
    }
    const bool is_zero = left == 0 || right == 0;
    int exponent = std::max(exponent_of(left), -126) + std::max(exponent_of(right), -126);
    if (is_zero && defect != Defect::zeros_have_exponents) exponent = -133;
    if (!is_zero && defect == Defect::exponent_of_the_product) exponent = exponent_of(left * right);
    terms.push_back({left * right, exponent});
  }
  const auto sum_of = [&](const std::vector<Term>& some) {
    int largest = -133;
    for (const auto& term : some) largest = std::max(largest, term.exponent);
    double sum = 0;
    for (const auto& term : some) {
      const double scaled = std::ldexp(term.value, fraction_bits - largest);
      sum += defect == Defect::terms_cut_downwards ? std::floor(scaled)
                                                   : cut(scaled, defect == Defect::terms_rounded);
    }
    return std::ldexp(sum, largest - fraction_bits);
  };
  const auto to_float32 = [&](double sum) {
    if (sum == 0) return 0.0f;
    const int unit = std::max(std::ilogb(sum), -126) - 23;
    const double kept =
        std::ldexp(cut(std::ldexp(sum, -unit), defect == Defect::result_rounded), unit);
    // A double rounds to the nearest float32, infinity included; this one is cut already.
    return static_cast<float>(kept) + 0.0f;
  };
  const auto term_of = [&](float c) {
    return Term{c, c == 0 ? -133 : std::max(exponent_of(c), -126)};
  };
  if (defect == Defect::c_not_aligned) {
    return to_float32(sum_of(terms)) + vector.c;
  }
  if (defect == Defect::products_in_two_halves) {
    std::vector<Term> first(terms.begin(), terms.begin() + 8);
    std::vector<Term> second(terms.begin() + 8, terms.end());
    first.push_back(term_of(vector.c));
    const float half = to_float32(sum_of(first));
    if (std::isinf(half)) return half;
    second.push_back(term_of(half));
    return to_float32(sum_of(second));
  }
  terms.push_back(term_of(vector.c));
  return to_float32(sum_of(terms));
}

std::size_t differing(const std::vector<GoldenStep>& vectors, Defect defect) {
  return static_cast<std::size_t>(
      std::count_if(vectors.begin(), vectors.end(), [&](const GoldenStep& vector) {
        return bits_of(plain_step(vector, defect)) != vector.hopper;
      }));
}

}  // namespace

TEST_CASE("a step is what MMA-Sim says that Hopper and Ampere compute", "[tensor-core]") {
  std::size_t index = 0;
  for (const GoldenStep& vector : golden_steps()) {
    CAPTURE(index++);
    REQUIRE(bits_of(hopper_step(vector.a, vector.b, vector.c)) == vector.hopper);
    REQUIRE(bits_of(ampere_step(vector.a, vector.b, vector.c)) == vector.ampere);
  }
}

TEST_CASE("the golden vectors see every planted defect of the rule", "[tensor-core][long]") {
  const auto vectors = golden_steps();
  CHECK(differing(vectors, Defect::none) == 0);
  for (const auto defect :
       {Defect::one_bit_fewer, Defect::one_bit_more, Defect::result_rounded, Defect::terms_rounded,
        Defect::terms_cut_downwards, Defect::c_not_aligned, Defect::zeros_have_exponents,
        Defect::subnormals_flushed, Defect::products_in_two_halves,
        Defect::exponent_of_the_product}) {
    INFO("defect " << static_cast<int>(defect));
    CHECK(differing(vectors, defect) >= 10);
  }
}

TEST_CASE("the steps that a device is asked for at its start see every planted defect",
          "[tensor-core]") {
  // As many steps of each defect as differ from the model, whose steps are those of the vectors.
  const auto others = [](Defect defect) {
    std::vector<std::uint32_t> steps;
    for (std::uint32_t tile = 0; tile < checked_tiles; ++tile) {
      for (std::uint32_t place = 0; place < 128; ++place) {
        GoldenStep step{};
        for (std::uint32_t k = 0; k < step_products; ++k) {
          step.a[k] = operand_bits(tile, 0, place / 8, k);
          step.b[k] = operand_bits(tile, 1, place % 8, k);
        }
        step.c = std::bit_cast<float>(accumulator_bits(tile, place / 8, place % 8));
        steps.push_back(bits_of(plain_step(step, defect)));
      }
    }
    return count_other_steps(steps, Arithmetic::tensor_core);
  };
  CHECK(others(Defect::none) == 0);
  for (const auto defect :
       {Defect::one_bit_fewer, Defect::one_bit_more, Defect::result_rounded, Defect::terms_rounded,
        Defect::terms_cut_downwards, Defect::c_not_aligned, Defect::zeros_have_exponents,
        Defect::subnormals_flushed, Defect::products_in_two_halves,
        Defect::exponent_of_the_product}) {
    INFO("defect " << static_cast<int>(defect));
    CHECK(others(defect) >= 10);
  }
}

TEST_CASE("the golden vectors hold subnormals, cancellation and overflow", "[tensor-core]") {
  std::size_t subnormal = 0;
  std::size_t infinite = 0;
  std::size_t zero = 0;
  for (const GoldenStep& vector : golden_steps()) {
    const std::uint32_t size = vector.hopper & 0x7FFFFFFFU;
    subnormal += size > 0 && size < 0x800000U ? 1 : 0;
    infinite += size == 0x7F800000U ? 1 : 0;
    zero += size == 0 ? 1 : 0;
  }
  CAPTURE(subnormal, infinite, zero);
  CHECK(subnormal >= 100);
  CHECK(infinite >= 20);
  CHECK(zero >= 100);
}

TEST_CASE("an infinity or NaN in a step never becomes a number", "[tensor-core]") {
  constexpr std::uint16_t one = 0x3F80;
  constexpr std::uint16_t infinity = 0x7F80;
  constexpr std::uint16_t nan = 0x7FC0;
  std::uint16_t a[step_products] = {one, one, one};
  std::uint16_t b[step_products] = {one, one, one};
  constexpr std::uint32_t result_nan = 0x7FFFFFFF;
  const float huge = std::numeric_limits<float>::infinity();
  CHECK(bits_of(hopper_step(a, b, huge)) == 0x7F800000U);
  CHECK(bits_of(hopper_step(a, b, -huge)) == 0xFF800000U);
  CHECK(bits_of(hopper_step(a, b, std::numeric_limits<float>::quiet_NaN())) == result_nan);
  a[1] = infinity;
  CHECK(bits_of(hopper_step(a, b, 1.0f)) == 0x7F800000U);
  CHECK(bits_of(hopper_step(a, b, -huge)) == result_nan);
  b[1] = 0;  // infinity · 0
  CHECK(bits_of(hopper_step(a, b, 1.0f)) == result_nan);
  a[1] = nan;
  CHECK(bits_of(hopper_step(a, b, 1.0f)) == result_nan);
  CHECK(bits_of(ampere_step(a, b, 1.0f)) == result_nan);
}

TEST_CASE("rounding to bfloat16 is to nearest, ties to even, and keeps NaN", "[tensor-core]") {
  const auto rounded = [](std::uint32_t bits) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return to_bfloat16(value);
  };
  CHECK(rounded(0x3F808000U) == 0x3F80);  // ties
  CHECK(rounded(0x3F818000U) == 0x3F82);
  CHECK(rounded(0x3F808001U) == 0x3F81);
  CHECK(rounded(0x3F807FFFU) == 0x3F80);
  CHECK(rounded(0xBF818000U) == 0xBF82);
  CHECK(rounded(0x00008001U) == 0x0001);  // subnormal
  CHECK(rounded(0x80000000U) == 0x8000);
  CHECK(rounded(0x7F7FFFFFU) == 0x7F80);  // beyond the largest
  CHECK(rounded(0x7F800000U) == 0x7F80);
  for (const std::uint32_t nan : {0x7FFFFFFFU, 0x7F800001U, 0xFFFFFFFFU, 0xFFC00000U}) {
    CHECK(rounded(nan) == 0x7FFF);
  }
  for (std::uint32_t upper = 0; upper < 0x7F80; ++upper) {
    REQUIRE(to_bfloat16(from_bfloat16(static_cast<std::uint16_t>(upper))) == upper);
  }
}

}  // namespace tempera::gpu::tensor_core_test
