// Products of the arithmetic `integer` in every form, beside sums of 64 bits.
#include <cmath>
#include <cstring>
#include <random>

#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/kernels/whole_cases.hpp"

namespace tempera::gpu::integer_products_test {

namespace {

PackedMatrix packed(const Floats& weights, std::size_t in) {
  const StoredTensor tensor{
      "w", "F32", {weights.size() / in, in}, std::as_bytes(std::span<const float>(weights)), "f"};
  const StoredTensor* const pointer = &tensor;
  return pack_matrices({&pointer, 1}, Arithmetic::integer);
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

void check_every_form(const std::vector<WholeProduct>& products) {
  for (const WholeProduct& product : products) {
    const Floats expected = naive_products(product);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::integer)) {
      CAPTURE(form->name(), product.in, product.out(), product.rows());
      CHECK(same_bits(products_of(*form, product.weights, product.inputs, product.in), expected));
    }
  }
}

}  // namespace

TEST_CASE("integer products are sums of 64 bits, rounded once a segment, in every form",
          "[kernels][integer]") {
  check_every_form(usual_products());
}

TEST_CASE("the largest sums that there can be do not overflow", "[kernels][integer]") {
  check_every_form(largest_products());
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
