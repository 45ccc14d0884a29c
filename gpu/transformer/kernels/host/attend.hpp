#pragma once

#include "gpu/device/float_lanes.hpp"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/kernels.hpp"
#include "gpu/transformer/kernels/tree_sum.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// An item is one head of one row; a vector runs across the slots of a page, or across the elements
/// of a head.
struct Attend {
  /// Elements of a head that are summed side by side.
  static constexpr std::size_t block = 16;

  AttentionShape shape;
  float scale;
  const float* query_key_value;  // [rows, shape.row_floats]
  TokenRows batch;
  PagePart keys;    // [key_value_heads, head_dim, page_tokens]
  PagePart values;  // [key_value_heads, page_tokens, head_dim]
  float* attended;  // [rows, heads, head_dim]

  std::size_t items() const { return batch.rows * shape.heads; }

  void operator()(std::size_t item) const {
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
    for (std::size_t begin = 0; begin < context; begin += page_tokens) {
      const std::size_t page = pages[begin / page_tokens];
      const std::size_t tokens = context - begin < page_tokens ? context - begin : page_tokens;
      float scores[page_tokens];
      score(query, part_of_page<float>(keys, page) + head_begin, scores);
      float new_largest = largest;
      for (std::size_t token = 0; token < tokens; ++token) {
        new_largest = scores[token] > new_largest ? scores[token] : new_largest;
      }
      const float shrink = float32_exponential(largest - new_largest);
      for (std::size_t token = 0; token < page_tokens; ++token) {
        const float mass = float32_exponential(scores[token] - new_largest);
        scores[token] = token < tokens ? mass : 0.0f;
        masses[token] = fused_multiply_add(masses[token], shrink, scores[token]);
      }
      add_values(part_of_page<float>(values, page) + head_begin, scores, tokens, shrink, sum);
      largest = new_largest;
    }
    const float factor = 1.0f / tree_sum(masses);
    for (std::size_t d = 0; d < shape.head_dim; ++d) sum[d] *= factor;
  }

  /// scores[t] = scale · Σ_d query[d] keys[d, t]; slots past the context give what nobody reads.
  /// head_keys: [head_dim, page_tokens].
  void score(const float* query, const float* head_keys, float (&scores)[page_tokens]) const {
    auto dots = broadcast<page_tokens>(0.0f);
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      dots = fused_multiply_add(broadcast<page_tokens>(query[d]),
                                load<page_tokens>(head_keys + d * page_tokens), dots);
    }
    store(dots * broadcast<page_tokens>(scale), scores);
  }

  /// sum = sum · shrink + Σ_t masses[t] values[t]. head_values: [page_tokens, head_dim].
  void add_values(const float* head_values, const float (&masses)[page_tokens], std::size_t tokens,
                  float shrink, float* sum) const {
    std::size_t begin = 0;
    for (; begin + block <= shape.head_dim; begin += block) {
      auto part = load<block>(sum + begin) * broadcast<block>(shrink);
      for (std::size_t token = 0; token < tokens; ++token) {
        part = fused_multiply_add(broadcast<block>(masses[token]),
                                  load<block>(head_values + token * shape.head_dim + begin), part);
      }
      store(part, sum + begin);
    }
    for (std::size_t d = begin; d < shape.head_dim; ++d) {
      float part = sum[d] * shrink;
      for (std::size_t token = 0; token < tokens; ++token) {
        part = fused_multiply_add(masses[token], head_values[token * shape.head_dim + d], part);
      }
      sum[d] = part;
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
