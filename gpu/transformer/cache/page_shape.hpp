#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"
#include "gpu/transformer/weights/packed_matrix.hpp"

namespace tempera::gpu {

/// Tokens in a page of the cache. Token t of a record lies in slot t % page_tokens of its page
/// t / page_tokens, whatever batch computed it.
constexpr std::size_t page_tokens = lanes;

/// What one page holds, in floats: for every layer the keys [heads, head_dim, page_tokens] (slots
/// innermost, so that the dot products of a query with a page run side by side) and the values
/// [heads, page_tokens, head_dim]; and after the layers the final hidden states [page_tokens,
/// hidden_size], after the final norm, from which the head alone gives the logits.
struct PageShape {
  std::size_t layers;
  std::size_t key_value_heads;
  std::size_t head_dim;
  std::size_t hidden_size;

  TEMPERA_HOST_DEVICE std::size_t head_floats() const { return head_dim * page_tokens; }
  TEMPERA_HOST_DEVICE std::size_t key_offset(std::size_t layer, std::size_t head) const {
    return (layer * 2 * key_value_heads + head) * head_floats();
  }
  TEMPERA_HOST_DEVICE std::size_t value_offset(std::size_t layer, std::size_t head) const {
    return ((layer * 2 + 1) * key_value_heads + head) * head_floats();
  }
  TEMPERA_HOST_DEVICE std::size_t hidden_offset(std::size_t slot) const {
    return layers * 2 * key_value_heads * head_floats() + slot * hidden_size;
  }
  /// The length of a page.
  TEMPERA_HOST_DEVICE std::size_t floats() const { return hidden_offset(page_tokens); }
};

}  // namespace tempera::gpu
