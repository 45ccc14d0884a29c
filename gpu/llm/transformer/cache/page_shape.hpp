#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/llm/transformer/cache/page_elements.hpp"
#include "gpu/llm/transformer/cache/page_part.hpp"

namespace tempera::gpu {

/// The layout of a page for an architecture that keeps every layer's keys and values. In the array
/// of each layer the page has the keys and then the values [key_value_heads, page_tokens,
/// head_dim]. In the last array it has the final hidden states [page_tokens, hidden_size], after
/// the final norm, from which the head alone gives the logits. Elements are float32, or bfloat16
/// under the arithmetics that round to it.
/// If keys and values have 8 bits, a head of a page is [page_tokens, head_dim] bytes and then
/// [page_tokens] bytes, the exponents of its tokens (page_elements.hpp); hidden states are
/// bfloat16 there, too.
/// Under `float32` the keys are [key_value_heads, head_dim, page_tokens] (slots innermost, so that
/// the dot products of a query with a page run side by side); under `bfloat16-pairs` they are
/// [key_value_heads, head_dim / 2, page_tokens, 2] and the values [key_value_heads, page_tokens /
/// 2, head_dim, 2], because pairs are summed. `integer` has
/// 16-bit whole numbers in the same order, and after those of each head the exponents of its tokens
/// [page_tokens] in words; its hidden states are float32.
struct PageShape {
  std::size_t layers;
  std::size_t key_value_heads;
  std::size_t head_dim;  // even
  std::size_t hidden_size;
  Arithmetic arithmetic;

  PagePart keys(const PageMemory& memory, std::size_t layer) const {
    return part_of_array(memory, layer);
  }
  PagePart values(const PageMemory& memory, std::size_t layer) const {
    return part_after(part_of_array(memory, layer), part_bytes());
  }
  PagePart hidden_states(const PageMemory& memory) const { return part_of_array(memory, layers); }
  ArraysLayout layout() const {
    const std::size_t element =
        rounds_to_bfloat16(arithmetic) ? sizeof(std::uint16_t) : sizeof(float);
    return {layers, 2 * part_bytes(), page_tokens * hidden_size * element};
  }

 private:
  /// The keys, or the values, of one layer.
  std::size_t part_bytes() const { return key_value_heads * head_bytes(); }
  /// A head of the keys, or of the values.
  std::size_t head_bytes() const {
    switch (page_elements(arithmetic)) {
      case PageElements::float32:
        return page_tokens * head_dim * sizeof(float);
      case PageElements::eight_bits:
        return EightBitElements::head_bytes(head_dim);
      case PageElements::sixteen_bits:
        return SixteenBitElements::head_bytes(head_dim);
      default:
        return Bfloat16Elements::head_bytes(head_dim);
    }
  }
};

}  // namespace tempera::gpu
