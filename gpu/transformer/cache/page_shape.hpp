#pragma once

#include <cstddef>

#include "gpu/transformer/cache/page_part.hpp"

namespace tempera::gpu {

/// The layout of a page for an architecture that keeps every layer's keys and values: for every
/// layer the keys [key_value_heads, head_dim, page_tokens] (slots innermost, so that the dot
/// products of a query with a page run side by side) and the values [key_value_heads, page_tokens,
/// head_dim]; and after the layers the final hidden states [page_tokens, hidden_size], after the
/// final norm, from which the head alone gives the logits.
struct PageShape {
  std::size_t layers;
  std::size_t key_value_heads;
  std::size_t head_dim;
  std::size_t hidden_size;

  PagePart keys(const PageMemory& memory, std::size_t layer) const {
    return {memory, 2 * layer * part_floats()};
  }
  PagePart values(const PageMemory& memory, std::size_t layer) const {
    return {memory, (2 * layer + 1) * part_floats()};
  }
  PagePart hidden_states(const PageMemory& memory) const {
    return {memory, 2 * layers * part_floats()};
  }
  /// The length of a page.
  std::size_t floats() const { return 2 * layers * part_floats() + page_tokens * hidden_size; }

 private:
  /// The keys, or the values, of one layer.
  std::size_t part_floats() const { return key_value_heads * head_dim * page_tokens; }
};

}  // namespace tempera::gpu
