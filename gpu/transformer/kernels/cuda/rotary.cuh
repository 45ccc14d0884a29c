#pragma once

#include <cstdint>

#include "gpu/device/tensor_core.hpp"
#include "gpu/transformer/kernels/cuda/page_of_position.cuh"
#include "gpu/transformer/kernels/cuda/turned_head.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned rotary_warps = 8;

/// Normalises every query and key head, unless its norm is null, and rotates it, or its first
/// rotary_dim elements, by its row's position: queries in place, float32; keys, and the values as
/// they are, into the row's slot of its page, bfloat16. One warp a head: its queries' first, then
/// its keys', then its values'. Grid: (heads of a row / 8 rounded up, rows). query_key_value:
/// [rows, shape.row_floats]; keys, values: [key_value_heads, page_tokens, head_dim].
TEMPERA_KERNEL(rotary_warps * 32)
rotate_heads(const AttentionShape shape, const HeadRotation rotation, const TokenRows batch,
             const PagePart keys, const PagePart values, float* query_key_value) {
  simt::let_next_begin();
  simt::wait_for_inputs();
  const auto heads = static_cast<unsigned>(shape.heads);
  const auto key_heads = static_cast<unsigned>(shape.key_value_heads);
  const auto size = static_cast<unsigned>(shape.head_dim);
  const unsigned row = simt::block().y;
  const unsigned head = simt::block().x * rotary_warps + simt::warp();
  if (head >= heads + 2 * key_heads) return;
  const unsigned position = batch.positions[row];
  const std::size_t page = page_of_position(batch, row, position);
  float* const buffer = query_key_value + row * shape.row_floats;
  const unsigned half = rotary_half(shape);

  if (head < heads) {
    float* const query = buffer + head * size;
    turn_head(query, rotation.query_norm, rotation, position, size, half,
              [query](unsigned d, float value) { query[d] = value; });
  } else if (head < heads + key_heads) {
    const unsigned key_head = head - heads;
    std::uint16_t* const slot = slot_of_position(keys, page, key_head, position, size);
    turn_head(buffer + shape.key_begin + key_head * size, rotation.key_norm, rotation, position,
              size, half, [slot](unsigned d, float value) { slot[d] = to_bfloat16(value); });
  } else {
    const unsigned value_head = head - heads - key_heads;
    const float* const value = buffer + shape.value_begin + value_head * size;
    std::uint16_t* const slot = slot_of_position(values, page, value_head, position, size);
    for (unsigned d = simt::lane(); d < size; d += 32) slot[d] = to_bfloat16(value[d]);
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
