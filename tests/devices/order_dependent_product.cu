#include <algorithm>
#include <limits>
#include <stdexcept>

#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/weights/filled_tensors.hpp"
#include "tests/devices/order_dependent_product.cuh"
#include "tests/devices/order_dependent_product.hpp"
#include "tests/devices/some_inputs.hpp"
#include "tests/devices/speed.hpp"

namespace tempera::gpu {

namespace {

struct Sizes {
  unsigned rows;
  unsigned tiles;
  unsigned steps;
  unsigned parts;
  unsigned blocks;
};

void queue(simt::Stream& stream, const Sizes& sizes, const std::uint32_t* fragments,
           const std::uint16_t* inputs, float* outputs) {
  const auto* weights = reinterpret_cast<const simt::Vector16*>(fragments);
  const auto* pairs = reinterpret_cast<const std::uint32_t*>(inputs);
  const auto launch = [&](auto kernel) {
    simt::launch({.blocks = {sizes.blocks}, .threads = order_dependent_threads}, stream, kernel,
                 weights, pairs, sizes.rows, sizes.tiles, sizes.steps, sizes.parts, outputs);
  };
  if (sizes.rows <= 8) return launch(multiply_in_any_order<1>);
  if (sizes.rows <= 16) return launch(multiply_in_any_order<2>);
  if (sizes.rows <= 32) return launch(multiply_in_any_order<4>);
  if (sizes.rows <= 64) return launch(multiply_in_any_order<8>);
  throw std::invalid_argument("at most 64 rows");
}

unsigned as_unsigned(std::size_t value) { return static_cast<unsigned>(value); }

}  // namespace

std::vector<float> order_dependent_product(std::span<const std::uint32_t> weights,
                                           std::span<const std::uint16_t> inputs, std::size_t rows,
                                           std::size_t out, std::size_t in, unsigned parts) {
  if (out % 16 != 0 || in % 16 != 0 || in / 16 % parts != 0)
    throw std::invalid_argument("whole tiles and steps, and parts of as many steps each");
  const DeviceMemory<std::uint32_t> fragments(weights);
  const DeviceMemory<std::uint16_t> given(inputs);
  DeviceMemory<float> outputs(rows * out);
  simt::Stream stream;
  queue(stream, {as_unsigned(rows), as_unsigned(out / 16), as_unsigned(in / 16), parts, 3},
        fragments.data(), given.data(), outputs.data());
  return outputs.download(0, rows * out);
}

double order_dependent_seconds(const Timing& timing, std::size_t out, std::size_t in,
                               std::size_t rows) {
  constexpr std::size_t beyond_caches = std::size_t{1} << 30;
#if defined(TEMPERA_DEVICE_CUDA)
  const std::size_t copies = std::clamp<std::size_t>(beyond_caches / (2 * out * in), 2, 40);
#else
  const std::size_t copies = std::min<std::size_t>(beyond_caches / (2 * out * in), 2);
#endif
  FilledTensors tensors(7);
  std::vector<PackedMatrix> matrices;
  for (std::size_t i = 0; i < copies; ++i)
    matrices.push_back(tensors.matrix("weights", out, in, Arithmetic::tensor_core));
  const DeviceMemory<std::uint16_t> inputs = some_inputs(rows * in);
  DeviceMemory<float> outputs(rows * out);
  simt::Stream stream;
  double best = std::numeric_limits<double>::infinity();
  for (const unsigned parts : {1U, 2U, 4U, 8U, 16U, 32U}) {
    if (in / 16 % parts != 0) continue;
    Sizes sizes{as_unsigned(rows), as_unsigned(out / 16), as_unsigned(in / 16), parts, 1};
    sizes.blocks = std::min(sizes.tiles * parts / 8 + 1, 2048U);
    std::size_t turn = 0;
    best = std::min(best, seconds_per_call(timing, [&] {
                      const MatrixView matrix = matrices[turn++ % copies].view();
                      queue(stream, sizes, matrix.fragments, inputs.data(), outputs.data());
                    }));
  }
  return best;
}

}  // namespace tempera::gpu
