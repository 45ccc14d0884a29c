// The golden steps of tensor cores, taken by the products of every form: two steps of 16 inputs, of
// which the first makes c.
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/device/golden_steps.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::golden_products_test {

namespace {

using Step = float (*)(const std::uint16_t*, const std::uint16_t*, float);
using Bits = std::vector<std::uint16_t>;

constexpr std::size_t inputs = 32;
/// Vectors that share a launch: outputs and rows, of which the diagonal is looked at.
constexpr std::size_t together = 16;

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Three weights whose products with 1 a step sums to c, if it does so exactly.
std::optional<Bits> making(float c, Step step) {
  if (!std::isfinite(c)) return std::nullopt;
  Bits weights(16);
  Bits ones(16);
  float left = c;
  for (std::size_t i = 0; i < 3; ++i) {
    // The upper half of a float is its bfloat16, cut toward zero.
    weights[i] = static_cast<std::uint16_t>(bits_of(left) >> 16);
    ones[i] = to_bfloat16(1.0f);
    left -= from_bfloat16(weights[i]);
  }
  if (bits_of(step(weights.data(), ones.data(), 0.0f)) != bits_of(c)) return std::nullopt;
  return weights;
}

/// Golden vectors as rows of weights and of inputs.
struct Problem {
  Bits weights;  // [vectors, 32]
  Bits given;    // [vectors, 32]
  std::vector<std::uint32_t> expected;

  Problem(Arithmetic arithmetic, std::size_t most) {
    const bool of_ampere = arithmetic == Arithmetic::tensor_core_ampere;
    const Step step = of_ampere ? ampere_step : hopper_step;
    for (const GoldenStep& vector : golden_steps()) {
      if (expected.size() == most) break;
      const auto first = making(vector.c, step);
      if (!first) continue;
      weights.insert(weights.end(), first->begin(), first->end());
      weights.insert(weights.end(), std::begin(vector.a), std::end(vector.a));
      for (std::size_t i = 0; i < 16; ++i) given.push_back(to_bfloat16(i < 3 ? 1.0f : 0.0f));
      given.insert(given.end(), std::begin(vector.b), std::end(vector.b));
      expected.push_back(of_ampere ? vector.ampere : vector.hopper);
    }
    const std::size_t whole = expected.size() / together * together;
    expected.resize(whole);
  }

  /// How many results of a form are not the golden ones.
  std::size_t different(const Kernels& form) const {
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < expected.size(); begin += together) {
      const std::span<const std::uint16_t> rows(&weights[begin * inputs], together * inputs);
      const StoredTensor tensor{"m", "BF16", {together, inputs}, std::as_bytes(rows), "f"};
      const StoredTensor* const pointer = &tensor;
      const PackedMatrix matrix = pack_matrices({&pointer, 1}, form.arithmetic());
      const DeviceMemory<std::uint16_t> device_inputs{
          std::span<const std::uint16_t>(&given[begin * inputs], together * inputs)};
      DeviceMemory<float> outputs(together * together);
      form.multiply(matrix.view(), {nullptr, const_cast<std::uint16_t*>(device_inputs.data())},
                    together, together, outputs.data());
      const auto found = outputs.download(0, together * together);
      for (std::size_t i = 0; i < together; ++i)
        if (bits_of(found[i * together + i]) != expected[begin + i]) ++count;
    }
    return count;
  }
};

}  // namespace

TEST_CASE("products of every form take the golden steps of their chip", "[kernels][tensor-core]") {
  const auto arithmetic = GENERATE(Arithmetic::tensor_core, Arithmetic::tensor_core_ampere);
  CAPTURE(name_of(arithmetic));
  const Problem all(arithmetic, golden_steps().size());
  // The others have a c that no three bfloat16s sum to.
  CHECK(all.expected.size() > 2000);
  for (const Kernels* form : forms_of_the_kernels(arithmetic)) {
    CAPTURE(form->name());
    CHECK(all.different(*form) == 0);
  }
  const Problem some(arithmetic, 160);
  CHECK(some.different(CudaKernels(3, std::nullopt, StepForm::graph, arithmetic)) == 0);
}

TEST_CASE("planted: a form that takes the other chip's steps misses golden ones",
          "[kernels][tensor-core]") {
  const Problem of_ampere(Arithmetic::tensor_core_ampere, golden_steps().size());
  for (const Kernels* form : forms_of_the_kernels(Arithmetic::tensor_core)) {
    CAPTURE(form->name());
    CHECK(of_ampere.different(*form) >= 10);
  }
}

}  // namespace tempera::gpu::golden_products_test
