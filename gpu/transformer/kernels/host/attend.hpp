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

  /// Pages whose scores are summed side by side, because a sum waits for itself; and memory gives
  /// several at once sooner than one after another.
  static constexpr std::size_t pages_together = 4;
  static constexpr float lowest = -3.402823466e+38f;

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
    float largest = lowest;
    float masses[page_tokens] = {};
    const std::size_t count = (context + page_tokens - 1) / page_tokens;
    for (std::size_t first = 0; first < count; first += pages_together) {
      const std::size_t together = count - first < pages_together ? count - first : pages_together;
      const float* page_keys[pages_together];
      const float* page_values[pages_together];
      float scores[pages_together][page_tokens];
      for (std::size_t i = 0; i < together; ++i) {
        page_keys[i] = part_of_page<float>(keys, pages[first + i]) + head_begin;
        page_values[i] = part_of_page<float>(values, pages[first + i]) + head_begin;
      }
      if (together == pages_together) {
        score<pages_together>(query, page_keys, page_values, scores);
      } else {
        for (std::size_t i = 0; i < together; ++i) {
          score<1>(query, page_keys + i, page_values + i, scores + i);
        }
      }
      for (std::size_t i = 0; i < together; ++i) {
        const std::size_t left = context - (first + i) * page_tokens;
        const std::size_t tokens = left < page_tokens ? left : page_tokens;
        for (std::size_t token = tokens; token < page_tokens; ++token) scores[i][token] = lowest;
        const float new_largest = largest_of(scores[i], largest);
        const float shrink = float32_exponential(largest - new_largest);
        for (std::size_t token = 0; token < page_tokens; ++token) {
          const float mass = float32_exponential(scores[i][token] - new_largest);
          scores[i][token] = token < tokens ? mass : 0.0f;
          masses[token] = fused_multiply_add(masses[token], shrink, scores[i][token]);
        }
        add_values(page_values[i], scores[i], tokens, shrink, sum);
        largest = new_largest;
      }
    }
    const float factor = 1.0f / tree_sum(masses);
    for (std::size_t d = 0; d < shape.head_dim; ++d) sum[d] *= factor;
  }

  /// scores[p][t] = scale · Σ_d query[d] keys[p][d, t]; slots past the context give what nobody
  /// reads. The values are asked for meanwhile.
  /// keys: [Pages] of [head_dim, page_tokens]; values: [Pages] of [page_tokens, head_dim].
  template <std::size_t Pages>
  void score(const float* query, const float* const* page_keys, const float* const* page_values,
             float (*scores)[page_tokens]) const {
    FloatLanes<page_tokens> dots[Pages];
    for (auto& dot : dots) dot = broadcast<page_tokens>(0.0f);
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      const auto element = broadcast<page_tokens>(query[d]);
      for (std::size_t page = 0; page < Pages; ++page) {
        __builtin_prefetch(page_values[page] + d * page_tokens);
        dots[page] = fused_multiply_add(
            element, load<page_tokens>(page_keys[page] + d * page_tokens), dots[page]);
      }
    }
    for (std::size_t page = 0; page < Pages; ++page) {
      store(dots[page] * broadcast<page_tokens>(scale), scores[page]);
    }
  }

  /// The largest of the scores and `least`.
  static float largest_of(const float (&scores)[page_tokens], float least) {
    float most[page_tokens];
    for (std::size_t i = 0; i < page_tokens; ++i) most[i] = scores[i] > least ? scores[i] : least;
    for (std::size_t width = page_tokens / 2; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) {
        most[i] = most[i + width] > most[i] ? most[i + width] : most[i];
      }
    }
    return most[0];
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
