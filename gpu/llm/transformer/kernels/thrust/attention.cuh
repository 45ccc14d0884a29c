#pragma once

#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/kernels/row_kernels.hpp"
#include "gpu/llm/transformer/kernels/softmax_factor.hpp"

namespace tempera::gpu::readable {

/// An item is one head of one row. The softmax is taken page by page: with each page the largest
/// score so far may grow, and what is summed is rescaled to it. Pages before the window are left
/// out: with them the largest score, masses and sums would stay what they are.
struct Attend {
  AttentionShape shape;
  float scale;
  const float* query_key_value;  // [rows, shape.row_floats]
  TokenRows batch;
  PagePart keys;           // [key_value_heads, head_dim, page_tokens]
  PagePart values;         // [key_value_heads, page_tokens, head_dim]
  float* attended;         // [rows, heads, head_dim]
  std::size_t window = 0;  // AttentionReach's
  const float* sinks = nullptr;

  std::size_t items() const { return batch.rows * shape.heads; }

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t row = item / shape.heads;
    const std::size_t head = item % shape.heads;
    const std::size_t key_value_head = head / (shape.heads / shape.key_value_heads);
    const std::size_t head_begin = key_value_head * shape.head_dim * page_tokens;
    const std::size_t context = std::size_t{batch.positions[row]} + 1;
    const std::uint32_t* pages = batch.page_table + batch.first_page[row];
    const float* query = query_key_value + row * shape.row_floats + head * shape.head_dim;
    float* sum = attended + item * shape.head_dim;
    for (std::size_t d = 0; d < shape.head_dim; ++d) sum[d] = 0.0f;
    float largest = -3.402823466e+38f;
    float masses[page_tokens] = {};
    const std::size_t first = first_seen(context, window);
    for (std::size_t begin = first / page_tokens * page_tokens; begin < context;
         begin += page_tokens) {
      const std::size_t page = pages[begin / page_tokens];
      const float* page_keys = part_of_page<float>(keys, page) + head_begin;
      const float* page_values = part_of_page<float>(values, page) + head_begin;
      const std::size_t tokens = context - begin < page_tokens ? context - begin : page_tokens;
      const std::size_t hidden = slots_before(first, begin, page_tokens);
      float scores[page_tokens];
      float new_largest = largest;
      for (std::size_t token = hidden; token < tokens; ++token) {
        scores[token] = score(query, page_keys + token);
        new_largest = scores[token] > new_largest ? scores[token] : new_largest;
      }
      // 1 exactly where the largest stays: the products below then change nothing.
      const float shrink = float32_exponential(largest - new_largest);
      for (std::size_t token = 0; token < page_tokens; ++token) {
        const bool is_seen = token >= hidden && token < tokens;
        scores[token] = is_seen ? float32_exponential(scores[token] - new_largest) : 0.0f;
        masses[token] = fused_multiply_add(masses[token], shrink, scores[token]);
      }
      for (std::size_t d = 0; d < shape.head_dim; ++d) {
        float part = sum[d] * shrink;
        for (std::size_t token = hidden; token < tokens; ++token) {
          part = fused_multiply_add(scores[token], page_values[token * shape.head_dim + d], part);
        }
        sum[d] = part;
      }
      largest = new_largest;
    }
    const float factor =
        softmax_factor(tree_sum(masses), largest, sinks == nullptr ? nullptr : sinks + head);
    for (std::size_t d = 0; d < shape.head_dim; ++d) sum[d] *= factor;
  }

  /// scale · Σ_d query[d] key[d], the key's elements being page_tokens apart.
  TEMPERA_HOST_DEVICE float score(const float* query, const float* key) const {
    float dot = 0.0f;
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      dot = fused_multiply_add(query[d], key[d * page_tokens], dot);
    }
    return dot * scale;
  }
};

}  // namespace tempera::gpu::readable
