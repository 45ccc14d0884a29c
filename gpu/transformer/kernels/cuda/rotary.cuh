#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/device/tensor_core.hpp"
#include "gpu/transformer/kernels/cuda/page_of_position.cuh"
#include "gpu/transformer/kernels/cuda/tree.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned rotary_warps = 8;

/// Normalises every query and key head, unless its norm is null, and rotates it, or its first
/// rotary_dim elements, by its row's position: queries in place, float32; keys, and the values as
/// they are, into the row's slot of its page, bfloat16. One warp a head: its queries' first, then
/// its keys', then its values'. Grid: (heads of a row / 8 rounded up, rows). query_key_value:
/// [rows, shape.row_floats]; keys, values: [key_value_heads, page_tokens, head_dim].
TEMPERA_KERNEL(rotary_warps * 32)
rotate_heads(const AttentionShape shape, const float* query_norm, const float* key_norm,
             float epsilon, const RotaryTables tables, const TokenRows batch, const PagePart keys,
             const PagePart values, float* query_key_value) {
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
  const auto slot_of = [&](const PagePart& part, unsigned of_head) {
    return part_of_page<std::uint16_t>(part, page) +
           (std::size_t{of_head} * page_tokens + position % page_tokens) * size;
  };

  if (head >= heads + key_heads) {
    const unsigned value_head = head - heads - key_heads;
    const float* value = buffer + shape.value_begin + value_head * size;
    std::uint16_t* target = slot_of(values, value_head);
    for (unsigned d = simt::lane(); d < size; d += 32) target[d] = to_bfloat16(value[d]);
    return;
  }
  const bool is_query = head < heads;
  float* const vector =
      is_query ? buffer + head * size : buffer + shape.key_begin + (head - heads) * size;
  const float* const norm = is_query ? query_norm : key_norm;
  float sum = 0;
  for (unsigned d = simt::lane(); d < size; d += 32) {
    sum = fused_multiply_add(vector[d], vector[d], sum);
  }
  const float mean = tree_of_warp(sum) / static_cast<float>(size);
  const float factor = 1.0f / sqrtf(mean + epsilon);
  const unsigned half = static_cast<unsigned>(shape.rotary_dim == 0 ? size : shape.rotary_dim) / 2;
  std::uint16_t* const target = is_query ? nullptr : slot_of(keys, head - heads);
  for (unsigned d = simt::lane(); d < half; d += 32) {
    float low = vector[d];
    float high = vector[d + half];
    if (norm != nullptr) {
      low = norm[d] * (low * factor);
      high = norm[d + half] * (high * factor);
    }
    const float cosine = tables.cosines[std::size_t{position} * half + d];
    const float sine = tables.sines[std::size_t{position} * half + d];
    const float turned_low = fused_multiply_add(low, cosine, -(high * sine));
    const float turned_high = fused_multiply_add(high, cosine, low * sine);
    if (is_query) {
      vector[d] = turned_low;
      vector[d + half] = turned_high;
    } else {
      target[d] = to_bfloat16(turned_low);
      target[d + half] = to_bfloat16(turned_high);
    }
  }
  for (unsigned d = 2 * half + simt::lane(); d < size; d += 32) {
    const float element = norm == nullptr ? vector[d] : norm[d] * (vector[d] * factor);
    if (is_query) {
      vector[d] = element;
    } else {
      target[d] = to_bfloat16(element);
    }
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
