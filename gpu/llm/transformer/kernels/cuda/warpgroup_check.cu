#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_check.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

namespace {

// A segment and two stages of the next; a block whose outputs end before its last tile does; rows
// that end within a tile of tokens.
constexpr unsigned checked_in = segment_inputs + 4 * step_inputs;
constexpr unsigned checked_out = 112;
constexpr unsigned checked_rows = 72;

/// bfloat16s of either sign between 2^-7 and 2, two in a word.
std::vector<std::uint32_t> random_pairs(std::size_t count, std::mt19937& random) {
  std::vector<std::uint32_t> pairs(count);
  for (std::uint32_t& pair : pairs) {
    pair = 0;
    for (unsigned half = 0; half < 2; ++half) {
      const auto bits = static_cast<std::uint32_t>(random());
      const std::uint32_t number = (bits & 0x807FU) | (120U + (bits >> 16) % 8) << 7;
      pair |= number << (16 * half);
    }
  }
  return pairs;
}

/// Whole, or a part for each segment.
ProductPlan plan_of(const WarpgroupBlock& block, bool cut) {
  return plan_for_blocks(block, cut ? 1 : quotient_up(checked_in, segment_inputs), checked_rows,
                         checked_in, checked_out, checked_out / tile_outputs, false);
}

}  // namespace

bool warpgroups_have_equal_bits(simt::Stream& stream, LaunchWarpgroups launch) {
  std::mt19937 random(17);
  const DeviceMemory<std::uint32_t> weights{std::span<const std::uint32_t>(
      random_pairs(std::size_t{checked_in} * checked_out / 2, random))};
  const DeviceMemory<std::uint32_t> inputs{std::span<const std::uint32_t>(
      random_pairs(std::size_t{checked_in} * checked_rows / 2, random))};
  constexpr std::size_t any_room = std::size_t{99} * 1024;
  const ProductPlan chunks = plan_product(checked_rows, checked_in, checked_out,
                                          checked_out / tile_outputs, false, {3, any_room});
  DeviceMemory<float> scratch(
      std::max(chunks.scratch_floats(), plan_of(warpgroup_blocks[0], true).scratch_floats()));
  DeviceMemory<std::uint32_t> counters(chunks.counters());
  DeviceMemory<float> outputs(std::size_t{checked_rows} * checked_out);
  const ProductOperands operands{reinterpret_cast<const simt::Vector16*>(weights.data()),
                                 {reinterpret_cast<const std::uint16_t*>(inputs.data())},
                                 scratch.data(),
                                 counters.data()};
  const StoreProduct epilogue{outputs.data(), nullptr};
  const auto results = [&] {
    std::vector<std::uint32_t> bits(outputs.size());
    const std::vector<float> found = outputs.download(0, outputs.size());
    std::memcpy(bits.data(), found.data(), bits.size() * sizeof(float));
    return bits;
  };
  launch_product(stream, chunks, operands, epilogue);
  const auto expected = results();
  const auto has_equal_bits = [&](const WarpgroupBlock& block, bool cut) {
    launch(stream, plan_of(block, cut), operands, epilogue);
    return results() == expected;
  };
  return has_equal_bits(warpgroup_blocks[0], true) &&
         std::ranges::all_of(warpgroup_blocks, [&](const WarpgroupBlock& block) {
           return has_equal_bits(block, false);
         });
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
