#include "gpu/device/device_memory.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/cuda/tensor_core_check.cuh"
#include "gpu/llm/transformer/kernels/cuda/tensor_core_check.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

namespace {

constexpr std::uint32_t tile_rows = 16;
constexpr std::uint32_t tile_columns = 8;
constexpr std::uint32_t tile_steps = tile_rows * tile_columns;

std::uint32_t step_of_model(std::uint32_t tile, std::uint32_t row, std::uint32_t column,
                            Arithmetic arithmetic) {
  std::uint16_t a[step_products];
  std::uint16_t b[step_products];
  for (std::uint32_t k = 0; k < step_products; ++k) {
    a[k] = operand_bits(tile, 0, row, k);
    b[k] = operand_bits(tile, 1, column, k);
  }
  const std::uint32_t bits = accumulator_bits(tile, row, column);
  float c = 0;
  std::memcpy(&c, &bits, sizeof c);
  const float sum = takes_ampere_steps(arithmetic) ? ampere_step(a, b, c) : hopper_step(a, b, c);
  std::uint32_t result = 0;
  std::memcpy(&result, &sum, sizeof result);
  return result;
}

}  // namespace

std::vector<std::uint32_t> take_tensor_core_steps(simt::Stream& stream, std::uint32_t tiles) {
  DeviceMemory<std::uint32_t> memory(std::size_t{tiles} * tile_steps);
  simt::launch({.blocks = {tiles, 1, 1}, .threads = simt::warp_lanes}, stream, take_mma_steps,
               memory.data());
  return memory.download(0, memory.size());
}

std::size_t count_other_steps(std::span<const std::uint32_t> results, Arithmetic arithmetic) {
  std::size_t others = 0;
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    const std::uint32_t expected =
        step_of_model(i / tile_steps, i % tile_steps / tile_columns, i % tile_columns, arithmetic);
    others += results[i] == expected ? 0 : 1;
  }
  return others;
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
