// Products of the arithmetic `integer` in every form, beside sums of 64 bits.
#include <cmath>
#include <cstring>
#include <random>

#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/device/naive_whole.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::integer_products_test {

namespace {

using Floats = std::vector<float>;
constexpr std::size_t segment = 512;

PackedMatrix packed(const Floats& weights, std::size_t in) {
  const StoredTensor tensor{
      "w", "F32", {weights.size() / in, in}, std::as_bytes(std::span<const float>(weights)), "f"};
  const StoredTensor* const pointer = &tensor;
  return pack_matrices({&pointer, 1}, Arithmetic::integer);
}

Floats part(const Floats& x, std::size_t begin, std::size_t size) {
  const auto first = x.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

Floats naive_products(const Floats& weights, const Floats& inputs, std::size_t in) {
  Floats y;
  for (std::size_t row = 0; row < inputs.size(); row += in) {
    for (std::size_t output = 0; output < weights.size(); output += in) {
      float sum = 0.0F;
      for (std::size_t begin = 0; begin < in; begin += segment) {
        const std::size_t size = std::min(segment, in - begin);
        const float one =
            naive_dot(naive_whole(part(inputs, row + begin, size), 0xFFFFFFFFU),
                      naive_whole(part(weights, output + begin, size), (1U << 30) - 1));
        sum = begin == 0 ? one : sum + one;
      }
      y.push_back(sum);
    }
  }
  return y;
}

Floats products_of(const Kernels& kernels, const Floats& weights, const Floats& inputs,
                   std::size_t in) {
  const PackedMatrix matrix = packed(weights, in);
  const std::size_t out = weights.size() / in;
  const std::size_t rows = inputs.size() / in;
  DeviceMemory<float> given{std::span<const float>(inputs)};
  DeviceMemory<float> outputs(rows * out);
  kernels.multiply(matrix.view(), {given.data(), nullptr}, rows, out, outputs.data());
  return outputs.download(0, rows * out);
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("integer products are sums of 64 bits, rounded once a segment, in every form",
          "[kernels][integer]") {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  struct Size {
    std::size_t in, out, rows;
  };
  for (const auto [in, out, rows] : {Size{1, 1, 1}, Size{2, 17, 3}, Size{31, 5, 2}, Size{33, 40, 7},
                                     Size{96, 130, 15}, Size{511, 3, 5}, Size{512, 33, 9},
                                     Size{513, 16, 28}, Size{1111, 70, 66}, Size{64, 48, 130}}) {
    Floats weights(in * out);
    Floats inputs(in * rows);
    for (float& w : weights) w = normal(random) * 0.05F;
    for (float& x : inputs) x = normal(random);
    // A row with a number far above the others, one of zeros, one of ties, one of tiny numbers.
    inputs[0] = 500.0F;
    for (std::size_t i = 0; i < in; ++i) {
      if (rows > 2) inputs[2 * in + i] = 0.0F;
      if (rows > 3) inputs[3 * in + i] = static_cast<float>(random() % 64) + 0.5F;
      if (rows > 4) inputs[4 * in + i] *= 0x1p-70F;
      if (out > 2) weights[2 * in + i] *= 0x1p-64F;
      if (out > 4) weights[4 * in + i] = 0.0F;
    }
    const Floats expected = naive_products(weights, inputs, in);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::integer)) {
      CAPTURE(form->name(), in, out, rows);
      CHECK(same_bits(products_of(*form, weights, inputs, in), expected));
    }
  }
}

TEST_CASE("the largest sums that there can be do not overflow", "[kernels][integer]") {
  // Inputs that are the weights have the largest sum that Cauchy and Schwarz allow.
  for (const std::size_t in : {1U, 2U, 4U, 5U, 64U, 511U, 512U}) {
    Floats weights(in);
    for (std::size_t i = 0; i < in; ++i) weights[i] = i % 3 == 0 ? 1.0F : 0.96875F;
    Floats inputs = weights;
    for (const float x : weights) inputs.push_back(-x);
    const Floats expected = naive_products(weights, inputs, in);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::integer)) {
      CAPTURE(form->name(), in);
      CHECK(same_bits(products_of(*form, weights, inputs, in), expected));
    }
  }
}

TEST_CASE("a row with no place for a number has no product, and the rows beside it have theirs",
          "[kernels][integer]") {
  constexpr std::size_t in = 600;
  constexpr std::size_t rows = 20;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  Floats weights(in * 18);
  Floats inputs(in * rows);
  for (float& w : weights) w = normal(random);
  for (float& x : inputs) x = normal(random);
  for (const Kernels* form : forms_of_the_kernels(Arithmetic::integer)) {
    CAPTURE(form->name());
    const Floats sound = products_of(*form, weights, inputs, in);
    for (const float wrong : {std::nanf(""), HUGE_VALF, 0x1p90F}) {
      Floats other = inputs;
      other[7 * in + 599] = wrong;
      const Floats found = products_of(*form, weights, other, in);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const bool of_row = i / 18 == 7;
        CHECK((of_row ? std::isnan(found[i]) : found[i] == sound[i]));
      }
    }
  }
}

TEST_CASE("weights that no whole number can be are refused by name and place", "[integer]") {
  Floats weights(600 * 18, 0.25F);
  weights[600 * 17 + 599] = 0x1p90F;
  require_bad_input([&] { packed(weights, 600); },
                    {"f, tensor \"w\"", "element 10799", "too large for whole numbers"});
  weights[600 * 17 + 599] = HUGE_VALF;
  require_bad_input([&] { packed(weights, 600); },
                    {"f, tensor \"w\"", "element 10799", "is NaN or infinite"});
}

}  // namespace tempera::gpu::integer_products_test
