#include <random>

#include "gpu/device/device_memory.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "tests/catch.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/simt/transformer/contract.hpp"

using namespace tempera;
using namespace tempera::tests;

// Products of more than 32 rows, in chunks and by steps of four warps, on the device or on fibers.

TEST_CASE("Hopper takes steps of four warps, whose bits are those of mma.sync") {
  const gpu::Arithmetic arithmetic = gpu::own_arithmetic();
  const gpu::CudaKernels kernels(8, std::nullopt, gpu::StepForm::graph, arithmetic);
  const auto capability = gpu::compute_capability();
  const bool is_hopper = gpu::device_system() != "CUDA"
                             ? gpu::takes_hopper_steps(arithmetic)
                             : capability && capability->major == 9 && capability->minor == 0;
  REQUIRE(kernels.takes_warpgroup_steps() == is_hopper);
}

TEST_CASE("products of many rows have the contract's bits") {
  const bool on_fibers = gpu::device_system() != "CUDA";
  const gpu::Arithmetic arithmetic = gpu::own_arithmetic();
  const gpu::CudaKernels kernels(8, std::nullopt, gpu::StepForm::graph, arithmetic);
  // Steps of four warps take two stages at a time; other inputs go in chunks.
  const bool by_four_warps = GENERATE(false, true);
  if (by_four_warps && !kernels.takes_warpgroup_steps()) return;
  const std::size_t in = (on_fibers ? 544 : 2080) + (by_four_warps ? 32 : 0);
  const std::size_t out = on_fibers ? 144 : 24576;
  const std::size_t multiprocessors = on_fibers ? 3 : 132;
  std::mt19937 random(36);
  const auto weights = random_bfloat16s(out * in, 0.3f, random);
  const gpu::DeviceMemory<std::uint32_t> fragments{
      std::span<const std::uint32_t>(packed_fragments(weights, out, in))};
  for (const std::size_t rows : {40U, 200U, 512U}) {
    if (on_fibers && rows == 512) continue;
    const auto plan =
        gpu::plan_product(static_cast<unsigned>(rows), static_cast<unsigned>(in),
                          static_cast<unsigned>(out), static_cast<unsigned>(out / 16), false,
                          {static_cast<unsigned>(multiprocessors), std::size_t{227} * 1024,
                           kernels.takes_warpgroup_steps()});
    REQUIRE(plan.form == (by_four_warps ? gpu::ProductForm::warpgroups : gpu::ProductForm::chunks));
    const auto inputs = random_bfloat16s(rows * in, 1.0f, random);
    gpu::DeviceMemory<std::uint16_t> given{std::span<const std::uint16_t>(inputs)};
    gpu::DeviceMemory<float> outputs(rows * out);
    gpu::MatrixView view{};
    view.fragments = fragments.data();
    view.in = in;
    view.out = out;
    kernels.multiply(view, {nullptr, given.data()}, rows, out, outputs.data());
    const auto found = outputs.download(0, rows * out);
    // The first and the last output of every row are compared, and some between.
    Floats chosen;
    Floats expected;
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<std::size_t> asked = {0, out - 1};
      for (int i = 0; i < 20; ++i) asked.push_back(random() % out);
      for (const std::size_t o : asked) {
        chosen.push_back(found[row * out + o]);
        expected.push_back(contract_product({&weights[o * in], in}, {&inputs[row * in], in}, 512,
                                            contract_step(arithmetic)));
      }
    }
    INFO(kernels.name() << ", rows " << rows);
    REQUIRE(different(chosen, expected) == 0);
  }
}
