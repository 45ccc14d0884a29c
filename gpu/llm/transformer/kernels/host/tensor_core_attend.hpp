#pragma once

#include "gpu/device/float_lanes.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/cache/page_elements.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/kernels/host/attention_rows.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/row_kernels.hpp"
#include "gpu/llm/transformer/kernels/softmax_factor.hpp"
#include "gpu/llm/transformer/kernels/tree_sum.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Positions whose values are one chain of sums.
constexpr std::size_t value_run = 32;

/// Up to `most` queries of one row that look at the same keys. Elements: of keys and values,
/// Bfloat16Elements or EightBitElements.
template <class Elements>
struct QueriesOfGroup {
  using Stored = typename Elements::Stored;
  static constexpr std::size_t most = 8;
  /// Elements of a head that are read or summed side by side.
  static constexpr std::size_t block = 16;
  /// Elements of a head whose sums are under way at a time.
  static constexpr std::size_t piece = 256;

  std::size_t count;
  std::size_t head_dim;
  std::size_t first_position;  // that the row sees
  std::size_t context;
  float scale;
  const float* sinks;          // [count], or null
  const float* queries;        // [count, head_dim]
  const std::uint32_t* pages;  // of the row's record
  PagePart keys;               // begins at those of the group
  PagePart values;             // the same

  float scores[most][split_positions];
  float sums[most][piece];
  float masses[most];

  /// attended: [count, head_dim].
  void attend(std::uint16_t* attended) {
    float largest[most];
    find_largest(largest);
    for (std::size_t begin = 0; begin < head_dim; begin += piece) {
      const std::size_t size = head_dim - begin < piece ? head_dim - begin : piece;
      for (std::size_t head = 0; head < count; ++head) {
        masses[head] = 0.0f;
        for (std::size_t d = 0; d < size; ++d) sums[head][d] = 0.0f;
      }
      for (std::size_t first = first_split(); first < context; first += split_positions) {
        if (context > split_positions) score_split(first);
        for (std::size_t head = 0; head < count; ++head) {
          add_split(head, first, largest[head], begin, size);
        }
      }
      for (std::size_t head = 0; head < count; ++head) {
        const float factor =
            softmax_factor(masses[head], largest[head], sinks == nullptr ? nullptr : sinks + head);
        std::uint16_t* target = attended + head * head_dim + begin;
        for (std::size_t d = 0; d < size; ++d) target[d] = to_bfloat16(sums[head][d] * factor);
      }
    }
  }

  /// The largest score of all. The scores themselves are computed again afterwards: to keep them
  /// would take memory that grows with the text. Those of a single split stay where they are.
  void find_largest(float (&largest)[most]) {
    for (float& m : largest) m = -3.402823466e+38f;
    for (std::size_t first = first_split(); first < context; first += split_positions) {
      score_split(first);
      for (std::size_t head = 0; head < count; ++head) {
        const float m = largest_of_split(head, first);
        largest[head] = m > largest[head] ? m : largest[head];
      }
    }
  }

  /// Where the first split begins that the row sees anything of.
  std::size_t first_split() const { return first_position / split_positions * split_positions; }
  /// Positions of a split that are before those that the row sees.
  std::size_t hidden_of_split(std::size_t first) const {
    return slots_before(first_position, first, split_positions);
  }
  std::size_t positions_of_split(std::size_t first) const {
    return context - first < split_positions ? context - first : split_positions;
  }

  float largest_of_split(std::size_t head, std::size_t first) const {
    float m = -3.402823466e+38f;
    for (std::size_t s = hidden_of_split(first); s < positions_of_split(first); ++s) {
      m = scores[head][s] > m ? scores[head][s] : m;
    }
    return m;
  }

  /// scores[head][s] = scale · Σ_d query[d] key_{first + s}[d]; what is past the context nobody
  /// reads.
  void score_split(std::size_t first) {
    for (std::size_t s = 0; s < positions_of_split(first); s += page_tokens) {
      const auto* page = part_of_page<Stored>(keys, pages[(first + s) / page_tokens]);
      FloatLanes<page_tokens> dots[most];
      for (auto& dot : dots) dot = broadcast<page_tokens>(0.0f);
      for (std::size_t begin = 0; begin < head_dim; begin += block) {
        const std::size_t size = head_dim - begin < block ? head_dim - begin : block;
        float across[block][page_tokens];  // a lane is a position
        for (std::size_t slot = 0; slot < page_tokens; ++slot) {
          const Stored* key = page + slot * head_dim + begin;
          for (std::size_t d = 0; d < size; ++d) across[d][slot] = Elements::value_of(key[d]);
        }
        for (std::size_t head = 0; head < count; ++head) {
          const float* query = queries + head * head_dim + begin;
          for (std::size_t d = 0; d < size; ++d) {
            dots[head] = fused_multiply_add(broadcast<page_tokens>(query[d]),
                                            load<page_tokens>(across[d]), dots[head]);
          }
        }
      }
      if constexpr (Elements::have_exponents) {
        float powers[page_tokens];
        for (std::size_t slot = 0; slot < page_tokens; ++slot) powers[slot] = power_of(page, slot);
        for (auto& dot : dots) dot = dot * load<page_tokens>(powers);
      }
      for (std::size_t head = 0; head < count; ++head) {
        store(dots[head] * broadcast<page_tokens>(scale), scores[head] + s);
      }
    }
  }

  /// Adds what a split gives to the elements begin … begin + size - 1 of a head, and to its mass.
  void add_split(std::size_t head, std::size_t first, float largest, std::size_t begin,
                 std::size_t size) {
    const std::size_t positions = positions_of_split(first);
    const std::size_t hidden = hidden_of_split(first);
    const float m = largest_of_split(head, first);
    float weights[split_positions];
    for (std::size_t s = 0; s < split_positions; ++s) {
      const bool is_seen = s >= hidden && s < positions;
      weights[s] = is_seen ? float32_exponential(scores[head][s] - m) : 0.0f;
    }
    const float share = float32_exponential(m - largest);
    masses[head] = fused_multiply_add(tree_sum(weights), share, masses[head]);
    if constexpr (Elements::have_exponents) {
      for (std::size_t s = 0; s < positions; ++s) {
        const auto* page = part_of_page<Stored>(values, pages[(first + s) / page_tokens]);
        weights[s] = weights[s] * power_of(page, (first + s) % page_tokens);
      }
    }
    std::size_t d = 0;
    for (; d + block <= size; d += block) {
      const auto sum = sum_values<FloatLanes<block>>(weights, first, positions, begin + d);
      store(fused_multiply_add(sum, broadcast<block>(share), load<block>(sums[head] + d)),
            sums[head] + d);
    }
    for (; d < size; ++d) {
      const float sum = sum_values<float>(weights, first, positions, begin + d);
      sums[head][d] = fused_multiply_add(sum, share, sums[head][d]);
    }
  }

  /// Σ_s weights[s] · value_{first + s}[d …], in runs. Lanes: elements side by side, or one.
  template <class Lanes>
  Lanes sum_values(const float* weights, std::size_t first, std::size_t positions,
                   std::size_t d) const {
    Lanes sum;
    set_all(sum, 0.0f);
    for (std::size_t begin = 0; begin < positions; begin += value_run) {
      const std::size_t end = begin + value_run < positions ? begin + value_run : positions;
      Lanes run;
      set_all(run, 0.0f);
      for (std::size_t s = begin; s < end; ++s) {
        const std::size_t position = first + s;
        const auto* page = part_of_page<Stored>(values, pages[position / page_tokens]);
        add_value(weights[s], page + position % page_tokens * head_dim + d, run);
      }
      if (begin == 0) {
        sum = run;
      } else {
        sum = sum + run;
      }
    }
    return sum;
  }

  /// 2^e of a token's head. page: where the group begins in it.
  float power_of(const Stored* page, std::size_t slot) const {
    return Elements::power_of(page[page_tokens * head_dim + slot]);
  }

  static void set_all(float& lanes, float value) { lanes = value; }
  static void set_all(FloatLanes<block>& lanes, float value) { lanes = broadcast<block>(value); }
  static void add_value(float weight, const Stored* value, float& sum) {
    sum = fused_multiply_add(weight, Elements::value_of(*value), sum);
  }
  static void add_value(float weight, const std::uint8_t* value, FloatLanes<block>& sum) {
    float floats[block];
    for (std::size_t d = 0; d < block; ++d) floats[d] = Elements::value_of(value[d]);
    sum = fused_multiply_add(broadcast<block>(weight), load<block>(floats), sum);
  }
  static void add_value(float weight, const std::uint16_t* value, FloatLanes<block>& sum) {
    sum = fused_multiply_add(broadcast<block>(weight), load<block>(value), sum);
  }
};

/// An item is one key/value head of one row: the queries that look at it share its reading.
template <class Elements>
struct TensorCoreAttend {
  AttentionShape shape;
  float scale;
  const float* query_key_value;  // [rows, shape.row_floats]
  TokenRows batch;
  PagePart keys;            // [key_value_heads], each as Elements have a head
  PagePart values;          // the same
  std::uint16_t* attended;  // [rows, heads, head_dim]
  std::size_t window = 0;   // AttentionReach's
  const float* sinks = nullptr;

  std::size_t items() const { return batch.rows * shape.key_value_heads; }

  void operator()(std::size_t item) const {
    const std::size_t row = item / shape.key_value_heads;
    const std::size_t group = item % shape.key_value_heads;
    const std::size_t heads = shape.heads / shape.key_value_heads;
    const std::size_t begin = group * Elements::head_bytes(shape.head_dim);
    QueriesOfGroup<Elements> some;
    some.head_dim = shape.head_dim;
    some.context = std::size_t{batch.positions[row]} + 1;
    some.first_position = first_seen(some.context, window);
    some.scale = scale;
    some.pages = batch.page_table + batch.first_page[row];
    some.keys = part_after(keys, begin);
    some.values = part_after(values, begin);
    for (std::size_t first = 0; first < heads; first += some.most) {
      const std::size_t head = group * heads + first;
      some.count = heads - first < some.most ? heads - first : some.most;
      some.sinks = sinks == nullptr ? nullptr : sinks + head;
      some.queries = query_key_value + row * shape.row_floats + head * shape.head_dim;
      some.attend(attended + (row * shape.heads + head) * shape.head_dim);
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
