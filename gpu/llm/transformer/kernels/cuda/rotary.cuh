#pragma once

#include <cstdint>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/cuda/head_exponent.cuh"
#include "gpu/llm/transformer/kernels/cuda/page_of_position.cuh"
#include "gpu/llm/transformer/kernels/cuda/turned_head.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned rotary_warps = 8;

/// Normalises every query and key head, unless its norm is null, and rotates it, or its first
/// rotary_dim elements, by its row's position: queries in place, float32; keys, and the values as
/// they are, into the row's slot of its page, as Elements. One warp a head: its queries' first,
/// then its keys', then its values'. Grid: (heads of a row / 8 rounded up, rows). query_key_value:
/// [rows, shape.row_floats]; keys, values: [key_value_heads], each as Elements have a head.
// Without a number of blocks the assembler takes 48 registers, and spills.
template <class Elements>
TEMPERA_KERNEL(rotary_warps * 32, 4)
rotate_heads(const AttentionShape shape, const HeadRotation rotation, const TokenRows batch,
             const PagePart keys, const PagePart values, float* query_key_value) {
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

  const bool is_query = head < heads;
  const bool is_value = head >= heads + key_heads;
  const unsigned key_head = is_query ? 0 : is_value ? head - heads - key_heads : head - heads;
  // By members: a choice between two parameters would put both into local memory.
  const PagePart part{is_value ? values.first : keys.first, is_value ? values.stride : keys.stride};
  float* const vector =
      buffer +
      (is_query ? head * size : (is_value ? shape.value_begin : shape.key_begin) + key_head * size);
  auto* const slot = slot_of_position<Elements>(part, page, key_head, position, size);
  constexpr bool scaled = Elements::have_exponents;
  HeadExponent largest;
  std::uint8_t exponent = 0;
  // What goes into a page is made twice if it has an exponent, which has to be known before the
  // first element is stored.
  TEMPERA_NO_UNROLL
  for (unsigned pass = scaled && !is_query ? 0 : 1; pass < 2; ++pass) {
    const auto store = [&](unsigned d, float element) {
      if (is_query) {
        vector[d] = element;
      } else if (scaled && pass == 0) {
        largest.take(element);
      } else {
        slot[d] = stored_element<Elements>(element, exponent);
      }
    };
    if (is_value) {
      for (unsigned d = simt::lane(); d < size; d += simt::warp_lanes) store(d, vector[d]);
    } else {
      turn_head<InputsOfLaunch>(vector, is_query ? rotation.query_norm : rotation.key_norm,
                                rotation, position, size, half, store);
    }
    if (scaled && pass == 0) exponent = largest.of_warp();
  }
  if (scaled && !is_query && simt::lane() == 0)
    *exponent_of_position<Elements>(part, page, key_head, position, size) = exponent;
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
