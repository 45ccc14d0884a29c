#include "gpu/llm/transformer/kernels/cuda/packed_weights.cuh"

#include <algorithm>
#include <limits>
#include <planted/packed_defects.hpp>

#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_launch.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/simt/transformer/quantised_matrix.hpp"

using namespace tempera;
using namespace tempera::tests;
namespace simt = tempera::gpu::simt;

namespace {

constexpr std::size_t shared_bytes = 227 * 1024;

using Launch = void (*)(simt::Stream&, const gpu::ProductPlan&, const gpu::ProductOperands&,
                        const gpu::StoreProduct&);

/// The product of all outputs by a plan, with memory of exactly the size that it asks for.
Floats product_of(const QuantisedMatrix& matrix, const Bfloat16s& inputs,
                  const gpu::ProductPlan& plan, simt::Stream& stream,
                  Launch launch = gpu::launch_product) {
  const auto view = matrix.packed.view();
  REQUIRE(view.quantised != nullptr);
  std::vector<simt::Vector16> aligned(inputs.size() / 8 + 1);
  std::memcpy(aligned.data(), inputs.data(), inputs.size() * 2);
  Floats scratch(plan.scratch_floats(), std::numeric_limits<float>::quiet_NaN());
  std::vector<std::uint32_t> counters(plan.counters());
  Floats outputs(inputs.size() / matrix.in * matrix.out, std::numeric_limits<float>::quiet_NaN());
  launch(stream, plan,
         {nullptr,
          {reinterpret_cast<const std::uint16_t*>(aligned.data())},
          scratch.data(),
          counters.data(),
          view.quantised,
          view.blocks},
         {outputs.data(), nullptr});
  return outputs;
}

gpu::ProductPlan plan_for(const QuantisedMatrix& matrix, std::size_t rows, unsigned multiprocessors,
                          std::size_t limit = shared_bytes) {
  const auto out = static_cast<unsigned>(matrix.out);
  return gpu::plan_product(static_cast<unsigned>(rows), static_cast<unsigned>(matrix.in), out,
                           out / 16, false, {multiprocessors, limit}, gpu::WeightForm::quantised);
}

Bfloat16s inputs_of(std::size_t rows, std::size_t in, unsigned seed) {
  std::mt19937 random(seed);
  return random_bfloat16s(rows * in, 1.0f, random);
}

}  // namespace

TEST_CASE("a product over quantised weights has the contract's bits for every type and batch") {
  // Half a segment, one and a half, and two and a half; rings of every depth.
  std::uint64_t seed = 1;
  for (const auto& dtype : quantised_dtypes) {
    for (const std::size_t in : {256U, 768U, 1280U}) {
      const QuantisedMatrix matrix(in, {{dtype, 24}}, static_cast<std::uint32_t>(in));
      for (const std::size_t rows : {1U, 7U, 9U, 17U, 65U}) {
        const auto inputs = inputs_of(rows, in, static_cast<unsigned>(rows));
        simt::Stream stream{++seed};
        const std::size_t limit = seed % 2 == 0 ? shared_bytes : 99 * 1024;
        const auto plan = plan_for(matrix, rows, static_cast<unsigned>(1 + seed % 5), limit);
        const auto found = product_of(matrix, inputs, plan, stream);
        INFO(dtype << ", in " << in << ", rows " << rows);
        REQUIRE(different(found, matrix.products(inputs)) == 0);
        REQUIRE(stream.launches == (plan.adding == gpu::Adding::next_kernel ? 2 : 1));
      }
    }
  }
}

TEST_CASE("types may change from tile to tile, and however a product is cut, its bits stay") {
  const QuantisedMatrix matrix(1280, parts_of_every_type(20), 3);
  for (const std::size_t rows : {3U, 12U, 40U}) {
    const auto inputs = inputs_of(rows, matrix.in, 8);
    const auto expected = matrix.products(inputs);
    for (unsigned part_segments = 1; part_segments <= 3; ++part_segments) {
      for (const unsigned units : {1U, 3U}) {
        gpu::ProductPlan plan = plan_for(matrix, rows, 5);
        plan.part_segments = part_segments;
        plan.parts = (plan.segments + part_segments - 1) / part_segments;
        plan.job_units = units;
        plan.window = rows <= 16 ? part_segments : 1;
        plan.adding = plan.parts == 1 ? gpu::Adding::own_block
                      : units == 1    ? gpu::Adding::last_block
                                      : gpu::Adding::next_kernel;
        plan.shared_bytes = shared_bytes;
        plan.blocks = std::min(plan.jobs(), 5U);
        simt::Stream stream{part_segments + 10 * units + 100 * rows};
        REQUIRE(different(product_of(matrix, inputs, plan, stream), expected) == 0);
      }
    }
  }
}

TEST_CASE("planted: each defect in how quantised weights are taken shows") {
  const QuantisedMatrix matrix(768, parts_of_every_type(16), 5);
  const auto inputs = inputs_of(5, matrix.in, 6);
  const auto expected = matrix.products(inputs);
  for (const auto& planted : gpu::planted_packed_weights) {
    bool shows = false;
    for (const std::uint64_t seed : {1, 2}) {
      simt::Stream stream{seed};
      try {
        const auto found =
            product_of(matrix, inputs, plan_for(matrix, 5, 2), stream, planted.launch);
        shows = shows || different(found, expected) != 0;
      } catch (const simt::LaunchFailure&) {
        shows = true;
      }
    }
    INFO(planted.defect);
    CHECK(shows == (std::string(planted.defect) != "none"));
  }
  simt::Stream short_wait{1, 0, {.wait_one_short = true}, {}};
  bool shows = false;
  try {
    shows =
        different(product_of(matrix, inputs, plan_for(matrix, 5, 2), short_wait), expected) != 0;
  } catch (const simt::LaunchFailure&) {
    shows = true;
  }
  CHECK(shows);
}

TEST_CASE("every step of the kernels takes quantised weights as the host's form does") {
  const QuantisedMatrix matrix(512, parts_of_every_type(32), 9);
  const auto view = matrix.packed.view();
  const gpu::CudaKernels on_fibers(4);
  const auto& host = gpu::default_kernels(gpu::Arithmetic::tensor_core);
  const std::size_t half = matrix.out / 2;  // gate and up of different types
  // Tiles of 8, 16, 32 and 64 tokens.
  for (const std::size_t rows : {1U, 11U, 20U, 35U}) {
    const auto inputs = inputs_of(rows, matrix.in, 2);
    gpu::DeviceMemory<std::uint16_t> given{std::span<const std::uint16_t>(inputs)};
    const gpu::ProductInputs product_inputs{nullptr, given.data()};
    std::mt19937 random(3);
    const auto some = random_floats(rows * matrix.out, 1.0f, random);
    const gpu::DeviceMemory<float> bias{std::span<const float>(some).first(matrix.out)};
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t row = 0; row < rows; ++row) {
      tokens.push_back(row * 37 % static_cast<std::uint32_t>(matrix.out));
    }
    const gpu::DeviceMemory<std::uint32_t> device_tokens{std::span<const std::uint32_t>(tokens)};
    const auto results = [&](const gpu::Kernels& kernels) {
      Floats all;
      const auto keep = [&](const gpu::DeviceMemory<float>& memory) {
        const auto values = memory.download(0, memory.size());
        all.insert(all.end(), values.begin(), values.end());
      };
      gpu::DeviceMemory<float> outputs{std::span<const float>(some)};
      kernels.multiply_and_add(view, product_inputs, rows, matrix.out, outputs.data());
      keep(outputs);
      kernels.multiply_with_bias(view, product_inputs, bias.data(), rows, matrix.out,
                                 outputs.data());
      keep(outputs);
      kernels.multiply_head(view, product_inputs, rows, matrix.out, {outputs.data()});
      keep(outputs);
      gpu::DeviceMemory<float> states(rows * matrix.in);
      kernels.embed(view, {rows, 0, device_tokens.data(), nullptr, nullptr, nullptr},
                    states.data());
      keep(states);
      gpu::DeviceMemory<std::uint16_t> gated(rows * half);
      kernels.multiply_gated(view, product_inputs, rows, half, {nullptr, gated.data()});
      for (const auto value : gated.download(0, gated.size())) {
        all.push_back(gpu::from_bfloat16(value));
      }
      return all;
    };
    const auto expected = results(host);
    INFO("rows " << rows);
    REQUIRE(different(results(on_fibers), expected) == 0);
    // The embedding itself, with the signs of its zeros.
    Floats embedded;
    for (const auto token : tokens) {
      for (std::size_t i = 0; i < matrix.in; ++i) {
        embedded.push_back(gpu::from_bfloat16(matrix.weights[token * matrix.in + i]));
      }
    }
    REQUIRE(different(std::span(expected).subspan(3 * rows * matrix.out, rows * matrix.in),
                      embedded) == 0);
  }
}
