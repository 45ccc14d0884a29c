#include <algorithm>

#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "tests/catch.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/simt/transformer/quantised_matrix.hpp"

using namespace tempera;
using namespace tempera::tests;

// Products of tensor cores over quantised weights, on the device or on fibers, against the
// contract.

TEST_CASE("products over quantised weights have the contract's bits in batches of 1 to 64") {
  const bool on_fibers = gpu::device_system() != "CUDA";
  const gpu::Arithmetic arithmetic = gpu::own_arithmetic();
  const gpu::CudaKernels kernels(7, std::nullopt, gpu::StepForm::graph, arithmetic);
  std::vector<std::vector<QuantisedMatrix::Part>> stacks{parts_of_every_type(20)};
  for (const auto& dtype : quantised_dtypes) stacks.push_back({{dtype, 40}});
  std::mt19937 random(35);
  for (const auto& parts : stacks) {
    const QuantisedMatrix matrix(768, parts, 17);
    const auto view = matrix.packed.view();
    const auto inputs = random_bfloat16s(64 * matrix.in, 1.0f, random);
    const auto expected = matrix.products(inputs, contract_step(arithmetic));
    gpu::DeviceMemory<std::uint16_t> given{std::span<const std::uint16_t>(inputs)};
    for (const std::size_t rows : {1U, 8U, 9U, 17U, 33U, 64U}) {
      if (on_fibers && rows != 1 && rows != 33) continue;
      INFO(kernels.name() << ", " << parts.size() << " parts of " << parts[0].dtype << ", rows "
                          << rows);
      gpu::DeviceMemory<float> outputs(rows * matrix.out);
      kernels.multiply(view, {nullptr, given.data()}, rows, matrix.out, outputs.data());
      REQUIRE(different(outputs.download(0, rows * matrix.out),
                        std::span(expected).first(rows * matrix.out)) == 0);
      // Gate and up, of different types if there are several.
      const std::size_t half = matrix.out / 32 * 16;
      if (2 * half != matrix.out) continue;
      gpu::DeviceMemory<std::uint16_t> gated(rows * half);
      kernels.multiply_gated(view, {nullptr, given.data()}, rows, half, {nullptr, gated.data()});
      Bfloat16s expected_gated;
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t o = 0; o < half; ++o) {
          const float g = expected[row * matrix.out + o];
          const float u = expected[row * matrix.out + half + o];
          expected_gated.push_back(gpu::to_bfloat16(g / (1.0f + gpu::float32_exponential(-g)) * u));
        }
      }
      REQUIRE(different(gated.download(0, rows * half), expected_gated) == 0);
    }
    // Every output as the embedding of a token.
    const auto& tokens = matrix.outputs;
    const gpu::DeviceMemory<std::uint32_t> asked{std::span<const std::uint32_t>(tokens)};
    gpu::DeviceMemory<float> states(tokens.size() * matrix.in);
    kernels.embed(view, {tokens.size(), 0, asked.data(), nullptr, nullptr, nullptr}, states.data());
    Floats embedded;
    for (const auto token : tokens) {
      for (std::size_t i = 0; i < matrix.in; ++i) {
        embedded.push_back(gpu::from_bfloat16(matrix.weights[token * matrix.in + i]));
      }
    }
    REQUIRE(different(states.download(0, embedded.size()), embedded) == 0);
  }
}
