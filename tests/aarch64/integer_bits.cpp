// The kernels of `integer` in the form that TEMPERA_ISA names, or that this kind of machine
// chooses, as compiled for it: says which one it is, holds its products against sums of 64 bits,
// and prints the bits of every step. tests/aarch64/check compiles it for two kinds of machines and
// compares what they print.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "gpu/device/planted_fault.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/weights/whole_words.hpp"
#include "tests/gpu/llm/transformer/kernels/whole_cases.hpp"

namespace tempera::gpu {

// The choice of a form links these, and never calls them.
PlantedFault& planted_fault() { std::abort(); }
template <>
const Kernels& float32_kernels_for<InstructionSet::plain>() {
  std::abort();
}
template <>
const Kernels& tensor_core_kernels_for<InstructionSet::plain>(Arithmetic) {
  std::abort();
}
template <>
const Kernels& bfloat16_pairs_kernels_for<InstructionSet::plain>() {
  std::abort();
}

namespace {

/// A matrix as `integer` packs it, by what is naive.
std::vector<std::uint32_t> packed(const WholeProduct& product) {
  const std::vector<NaiveWhole> weights = naive_weights(product);
  const std::size_t segments = whole_segments(product.in);
  std::vector<std::uint32_t> words((product.out() + lanes - 1) / lanes *
                                   whole_block_words(product.in));
  for (std::size_t output = 0; output < product.out(); ++output) {
    std::uint32_t* const block = words.data() + output / lanes * whole_block_words(product.in);
    for (std::size_t s = 0; s < segments; ++s) {
      const NaiveWhole& segment = weights[output * segments + s];
      const float step = std::ldexp(1.0F, -segment.exponent);
      std::memcpy(block + s * lanes + output % lanes, &step, sizeof step);
      for (std::size_t i = 0; i < segment.numbers.size(); ++i) {
        const std::size_t pair = (s * whole_segment + i) / 2;
        const auto number = static_cast<std::uint16_t>(segment.numbers[i]);
        block[(segments + pair) * lanes + output % lanes] |= std::uint32_t{number} << i % 2 * 16;
      }
    }
  }
  return words;
}

Floats products_by(const Kernels& kernels, const WholeProduct& product) {
  const std::vector<std::uint32_t> words = packed(product);
  MatrixView matrix{product.in, (product.out() + lanes - 1) / lanes * lanes, nullptr, nullptr,
                    nullptr};
  matrix.pairs = words.data();
  return products_by(kernels, matrix, product.out(), product.inputs);
}

void print(const char* what, const Floats& numbers) {
  std::uint64_t sum = 0;
  for (const float x : numbers) {
    std::uint32_t bits = 0x7FC00000;  // which of a NaN's bits are left is each form's own
    if (!std::isnan(x)) std::memcpy(&bits, &x, sizeof bits);
    sum = sum * 0x100000001B3U + bits;
  }
  std::printf("%s %zu %016" PRIx64 "\n", what, numbers.size(), sum);
}

/// True if the form's products are what they should be.
bool check_and_print(const Kernels& kernels, const std::vector<WholeProduct>& products) {
  for (const WholeProduct& product : products) {
    const Floats expected = naive_products(product);
    const Floats found = products_by(kernels, product);
    print("products", found);
    if (std::memcmp(found.data(), expected.data(), expected.size() * sizeof(float)) != 0) {
      std::printf("the product of %zu rows of %zu inputs with %zu outputs is wrong\n",
                  product.rows(), product.in, product.out());
      return false;
    }
  }
  return true;
}

bool run(const Kernels& kernels) {
  std::printf("%s\n", kernels.name());
  if (!check_and_print(kernels, usual_products()) || !check_and_print(kernels, largest_products()))
    return false;
  RowKinds kinds(1);
  for (const std::size_t in : {33U, 513U}) {
    const WholeProduct product{in, kinds.rows(32, in), kinds.rows(30, in, RowKinds::kinds)};
    print("products of rows of every kind", products_by(kernels, product));
    const Floats weight = kinds.row(0, in);
    Floats normed(product.inputs.size());
    kernels.normalize(product.inputs.data(), weight.data(), product.rows(), in, 1e-6F,
                      {normed.data(), nullptr});
    print("norms", normed);
  }
  std::uint32_t seed = 1;
  for (const AttentionCase& shape : attention_cases()) {
    const Texts texts(shape, {shape.head_dim < 40 ? 280U : 37U, 1, 18}, ++seed);
    const auto answers = texts.by(kernels);
    print("attended", answers.attended);
    Floats bytes;
    for (const std::byte byte : answers.pages)
      bytes.push_back(std::to_integer<unsigned char>(byte));
    print("bytes of pages", bytes);
  }
  return true;
}

}  // namespace
}  // namespace tempera::gpu

int main() {
  using namespace tempera::gpu;
  return run(host_kernels(chosen_instruction_set(), Arithmetic::integer)) ? 0 : 1;
}
