#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::tensor_core_kernels_test {

namespace {

using Bits = std::vector<std::uint16_t>;

/// Finite bfloat16s of exponent fields in [low, high], some of them 0.
Bits some_bfloat16s(std::size_t size, int low, int high) {
  Bits result;
  for (std::size_t i = 0; i < size; ++i) {
    const int exponent = *rc::gen::inRange(low, high + 1);
    const int rest = *rc::gen::inRange(0, 256);
    const bool is_zero = *rc::gen::inRange(0, 8) == 0;
    result.push_back(static_cast<std::uint16_t>((rest & 128) << 8 |
                                                (is_zero ? 0 : exponent << 7 | (rest & 127))));
  }
  return result;
}

PackedMatrix packed(const Bits& weights, std::size_t in) {
  const StoredTensor tensor{"m",
                            "BF16",
                            {weights.size() / in, in},
                            std::as_bytes(std::span<const std::uint16_t>(weights)),
                            "f"};
  const StoredTensor* const pointer = &tensor;
  return pack_matrices({&pointer, 1}, Arithmetic::tensor_core);
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

using Step = float (*)(const std::uint16_t*, const std::uint16_t*, float);

/// Segments of 32 steps, added in order.
float product(const std::uint16_t* weights, const std::uint16_t* inputs, std::size_t in,
              Step step) {
  float total = 0.0f;
  for (std::size_t begin = 0; begin < in; begin += 512) {
    float sum = 0.0f;
    for (std::size_t first = begin; first < std::min(in, begin + 512); first += 16) {
      std::uint16_t a[16] = {};
      std::uint16_t b[16] = {};
      for (std::size_t i = first; i < std::min(in, first + 16); ++i) {
        a[i - first] = weights[i];
        b[i - first] = inputs[i];
      }
      sum = step(a, b, sum);
    }
    total = begin == 0 ? sum : total + sum;
  }
  return total;
}

/// Where exponents are, of weights and of inputs.
struct Range {
  int weights_low;
  int weights_high;
  int inputs_low;
  int inputs_high;
};

}  // namespace

TEST_CASE("products of tensor cores are chains of their chip's step wherever exponents are",
          "[kernels][long]") {
  const auto arithmetic = GENERATE(Arithmetic::tensor_core, Arithmetic::tensor_core_ampere);
  const Step step = arithmetic == Arithmetic::tensor_core ? hopper_step : ampere_step;
  // Ordinary; at the edges of what the vector forms take their shortcut for, on either side of
  // which some lanes leave it; subnormal; overflowing.
  const auto range = GENERATE(
      Range{118, 127, 118, 130}, Range{90, 110, 40, 60}, Range{60, 80, 74, 96},
      Range{1, 127, 100, 152}, Range{100, 127, 150, 156}, Range{0, 1, 0, 254}, Range{0, 60, 0, 80},
      Range{230, 254, 100, 152}, Range{240, 254, 240, 254}, Range{0, 254, 0, 254});
  CAPTURE(range.weights_low, range.weights_high, range.inputs_low, range.inputs_high);
  for (const auto* form : forms_of_the_kernels(arithmetic)) {
    law(std::string(form->name()) + ", " + std::string(name_of(arithmetic)) +
            ": every bit of multiply, with bias and without, and of multiply_and_add",
        [&] {
          const auto rows = *rc::gen::inRange<std::size_t>(1, 11);
          const auto in = *rc::gen::element<std::size_t>(1, 2, 15, 16, 17, 33, 64, 530);
          const auto out = *rc::gen::element<std::size_t>(1, 3, 8, 9, 16, 17);
          const Bits weights = some_bfloat16s(out * in, range.weights_low, range.weights_high);
          const Bits inputs = some_bfloat16s(rows * in, range.inputs_low, range.inputs_high);
          const auto matrix = packed(weights, in);
          DeviceMemory<std::uint16_t> device_inputs{std::span<const std::uint16_t>(inputs)};
          const std::vector<float> before(rows * out + 1, 5.0f);
          DeviceMemory<float> outputs{std::span<const float>(before)};
          const bool adds = *rc::gen::arbitrary<bool>();
          const bool has_bias = !adds && *rc::gen::arbitrary<bool>();
          std::vector<float> bias;
          for (std::size_t o = 0; o < out; ++o)
            bias.push_back(0x1.3p-3f * static_cast<float>(o + 1));
          const DeviceMemory<float> device_bias{std::span<const float>(bias)};
          const ProductInputs view{nullptr, device_inputs.data()};
          if (adds) {
            form->multiply_and_add(matrix.view(), view, rows, out, outputs.data());
          } else if (has_bias) {
            form->multiply_with_bias(matrix.view(), view, device_bias.data(), rows, out,
                                     outputs.data());
          } else {
            form->multiply(matrix.view(), view, rows, out, outputs.data());
          }
          std::vector<float> expected = before;
          for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t o = 0; o < out; ++o) {
              const float sum = product(&weights[o * in], &inputs[row * in], in, step);
              expected[row * out + o] = adds ? 5.0f + sum : has_bias ? sum + bias[o] : sum;
            }
          }
          RC_ASSERT(bits_of(outputs.download(0, outputs.size())) == bits_of(expected));
        });
  }
}

// Enough rows that the rounding to bfloat16 lets a sum in another order be seen.
TEST_CASE("tensor-core norms sum their squares in 256 parts", "[kernels][long]") {
  constexpr std::size_t rows = 4000;
  constexpr std::size_t size = 300;
  constexpr float epsilon = 1e-6f;
  std::vector<float> states;
  std::uint64_t seed = 3;
  const auto more = [&] {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<float>(static_cast<std::int64_t>(seed >> 40) - (1 << 23)) * 0x1p-23f;
  };
  for (std::size_t i = 0; i < rows * size; ++i) states.push_back(more());
  std::vector<float> weight;
  for (std::size_t i = 0; i < size; ++i) weight.push_back(1.0f + 0.5f * more());
  const auto normed_in = [&](std::size_t sums) {
    Bits normed;
    for (std::size_t row = 0; row < rows; ++row) {
      const float* x = &states[row * size];
      std::vector<float> partial(sums, 0.0f);
      for (std::size_t i = 0; i < size; ++i) {
        partial[i % sums] = std::fma(x[i], x[i], partial[i % sums]);
      }
      for (std::size_t half = sums / 2; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
      }
      const float factor = 1.0f / std::sqrt(partial[0] / static_cast<float>(size) + epsilon);
      for (std::size_t i = 0; i < size; ++i) {
        normed.push_back(to_bfloat16(weight[i] * (x[i] * factor)));
      }
    }
    return normed;
  };
  const Bits expected = normed_in(256);
  CHECK((normed_in(16) != expected));
  const DeviceMemory<float> device_states{std::span<const float>(states)};
  const DeviceMemory<float> device_weight{std::span<const float>(weight)};
  for (const auto* form : forms_of_the_kernels(Arithmetic::tensor_core)) {
    CAPTURE(form->name());
    DeviceMemory<std::uint16_t> normed(rows * size);
    form->normalize(device_states.data(), device_weight.data(), rows, size, epsilon,
                    {nullptr, normed.data()});
    CHECK((normed.download(0, rows * size) == expected));
  }
}

}  // namespace tempera::gpu::tensor_core_kernels_test
