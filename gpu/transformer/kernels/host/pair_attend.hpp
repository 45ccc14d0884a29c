#pragma once

#include "gpu/device/tensor_core.hpp"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/host/attention_rows.hpp"
#include "gpu/transformer/kernels/host/pair_products.hpp"
#include "gpu/transformer/kernels/host/tensor_core_attend.hpp"
#include "gpu/transformer/kernels/kernels.hpp"
#include "gpu/transformer/kernels/tree_sum.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Some queries that look at the same heads of keys and values, those of one row after those of
/// another; each has its own sequence of operations, whatever others are here. Memory is taken from
/// the thread's own.
struct PairQueries {
  static constexpr std::size_t most = AttentionTiling::most_queries;
  static constexpr std::size_t chunk = segment_inputs;  // positions that are summed together
  static constexpr std::size_t chunk_pages = chunk / page_tokens;
  static constexpr float lowest = -3.402823466e+38f;

  std::size_t heads;  // of a row
  AttentionRows rows;
  std::size_t head_dim;
  float scale;
  PagePart keys;    // begins at those of the head: [head_dim / 2, page_tokens, 2]
  PagePart values;  // the same: [page_tokens / 2, head_dim, 2]

  std::uint32_t* queries;  // [count, head_dim / 2] pairs
  float* scores;           // [count, split_positions]
  std::uint32_t* shares;   // [count, split_positions / 2] pairs
  float* split_sums;       // [count, width]
  float* sums;             // [count, width]
  std::uint32_t* half;     // [width]
  float largest[most];
  float split_largest[most];
  float masses[most];
  float split_masses[most];

  std::size_t count() const { return rows.rows * heads; }
  /// Elements of a head, filled up to whole blocks.
  std::size_t width() const { return (head_dim + lanes - 1) / lanes * lanes; }
  static std::size_t words(std::size_t count, std::size_t head_dim) {
    return count * (head_dim / 2 + split_positions + split_positions / 2) +
           (2 * count + 1) * (head_dim + lanes) + 6 * lanes;
  }
  void take(float* memory) {
    const auto next = [&](std::size_t size) {
      float* const taken = memory;
      memory += (size + lanes - 1) / lanes * lanes;
      return taken;
    };
    queries = reinterpret_cast<std::uint32_t*>(next(count() * head_dim / 2));
    scores = next(count() * split_positions);
    shares = reinterpret_cast<std::uint32_t*>(next(count() * split_positions / 2));
    split_sums = next(count() * width());
    sums = next(count() * width());
    half = reinterpret_cast<std::uint32_t*>(next(width()));
  }

  /// query_key_value: of the first row, from the first head on; attended: the same.
  void attend(const float* query_key_value, std::size_t row_floats, std::uint16_t* attended,
              std::size_t attended_stride) {
    for (std::size_t row = 0; row < rows.rows; ++row) {
      auto* const target = reinterpret_cast<std::uint16_t*>(queries + row * heads * head_dim / 2);
      for (std::size_t i = 0; i < heads * head_dim; ++i) {
        target[i] = to_bfloat16(query_key_value[row * row_floats + i]);
      }
    }
    const std::size_t end = rows.longest();
    for (std::size_t first = 0; first < end; first += split_positions) {
      score_split(first);
      for (std::size_t row = 0; row < rows.rows; ++row) {
        if (rows.context(row) <= first) continue;
        for (std::size_t head = 0; head < heads; ++head) {
          share(row * heads + head, rows.context(row) - first);
        }
      }
      sum_split(first);
      for (std::size_t row = 0; row < rows.rows; ++row) {
        if (rows.context(row) <= first) continue;
        for (std::size_t head = 0; head < heads; ++head) join(row * heads + head, first == 0);
      }
    }
    for (std::size_t row = 0; row < rows.rows; ++row) {
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t query = row * heads + head;
        const float factor = 1.0f / masses[query];
        std::uint16_t* const target = attended + row * attended_stride + head * head_dim;
        const float* const sum = sums + query * width();
        for (std::size_t d = 0; d < head_dim; ++d) target[d] = to_bfloat16(sum[d] * factor);
      }
    }
  }

  /// scores[query, s] = query · key_{first + s}; what is past a row's context nobody reads.
  void score_split(std::size_t first) {
    const std::size_t end = rows.longest();
    const std::size_t used =
        end - first < split_positions ? (end - first + chunk - 1) / chunk * chunk : split_positions;
    for (std::size_t query = 0; query < count(); ++query) {
      for (std::size_t s = 0; s < used; ++s) scores[query * split_positions + s] = 0.0f;
    }
    const SubnormalsAreZero scope;
    for (std::size_t begin = first; begin < first + split_positions && begin < end;
         begin += chunk) {
      rows.for_each_run(begin, chunk_pages, [&](const AttentionRows::Run& run) {
        BlocksOfPairs blocks{};
        const std::size_t page = begin / page_tokens;
        const std::size_t there = run.context - begin > page_tokens ? chunk_pages : 1;
        for (std::size_t i = 0; i < there; ++i) {
          blocks.of_block[i] = part_of_page<std::uint32_t>(keys, run.pages[page + i]);
        }
        add_pair_products((run.end - run.first) * heads, there, head_dim / 2,
                          WordInputs{queries + run.first * heads * head_dim / 2, head_dim / 2},
                          blocks, scores + run.first * heads * split_positions + (begin - first),
                          split_positions);
      });
    }
  }

  /// What every position of a split weighs, not yet divided by their sum. positions: that the query
  /// sees, from the split's first on.
  void share(std::size_t query, std::size_t positions) {
    float* const score = scores + query * split_positions;
    const std::size_t seen = positions < split_positions ? positions : split_positions;
    const std::size_t filled = (seen + page_tokens - 1) / page_tokens * page_tokens;
    // Lane by lane, of a positive and a negative zero either: what is made of it is the same.
    float largest_of_lane[page_tokens];
    for (float& lane : largest_of_lane) lane = lowest;
    for (std::size_t s = 0; s < filled; ++s) {
      score[s] = s < seen ? scale * (score[s] + 0.0f) : lowest;
    }
    for (std::size_t begin = 0; begin < filled; begin += page_tokens) {
      for (std::size_t i = 0; i < page_tokens; ++i) {
        float& largest_here = largest_of_lane[i];
        largest_here = score[begin + i] > largest_here ? score[begin + i] : largest_here;
      }
    }
    float m = lowest;
    for (const float lane : largest_of_lane) m = lane > m ? lane : m;
    auto* const share = reinterpret_cast<std::uint16_t*>(shares + query * split_positions / 2);
    float partial[page_tokens] = {};
    for (std::size_t begin = 0; begin < filled; begin += page_tokens) {
      std::uint32_t bits[page_tokens];
      for (std::size_t i = 0; i < page_tokens; ++i) {
        const float weight = float32_exponential(score[begin + i] - m);
        bits[i] = begin + i < seen ? to_bfloat16(weight) : std::uint32_t{0};
      }
      for (std::size_t i = 0; i < page_tokens; ++i) {
        share[begin + i] = static_cast<std::uint16_t>(bits[i]);
        partial[i] += from_bfloat16(static_cast<std::uint16_t>(bits[i]));
      }
    }
    // Others, which see more, may take these weights along.
    for (std::size_t s = filled; s < split_positions; ++s) share[s] = 0;
    split_largest[query] = m;
    split_masses[query] = tree_sum(partial);
  }

  /// split_sums[query, d] = Σ_s shares[query, s] · value_{first + s}[d].
  void sum_split(std::size_t first) {
    for (std::size_t i = 0; i < count() * width(); ++i) split_sums[i] = 0.0f;
    const SubnormalsAreZero scope;
    const std::size_t end = rows.longest();
    for (std::size_t begin = first; begin < first + split_positions && begin < end;
         begin += chunk) {
      rows.for_each_run(begin, chunk_pages, [&](const AttentionRows::Run& run) {
        const std::size_t seen = run.context - begin < chunk ? run.context - begin : chunk;
        const std::size_t pairs = (seen + 1) / 2;
        RowsOfPairs values_of{};
        for (std::size_t pair = 0; pair < pairs; ++pair) {
          const std::size_t page = begin / page_tokens + pair / (page_tokens / 2);
          values_of.of_pair[pair] = part_of_page<std::uint32_t>(values, run.pages[page]) +
                                    pair % (page_tokens / 2) * head_dim;
        }
        if (seen % 2 != 0) {
          // The pair's later value is not there yet, and its memory may hold anything.
          const std::uint32_t* const last = values_of.of_pair[pairs - 1];
          for (std::size_t d = 0; d < head_dim; ++d) half[d] = last[d] & 0xFFFFU;
          for (std::size_t d = head_dim; d < width(); ++d) half[d] = 0;
          values_of.of_pair[pairs - 1] = half;
        }
        add_pair_products(
            (run.end - run.first) * heads, width() / lanes, pairs,
            WordInputs{shares + (run.first * heads * split_positions + begin - first) / 2,
                       split_positions / 2},
            values_of, split_sums + run.first * heads * width(), width());
      });
    }
  }

  /// Adds what a split gives to what those before it gave.
  void join(std::size_t query, bool is_first) {
    float* const sum = sums + query * width();
    const float* const split = split_sums + query * width();
    if (is_first) {
      largest[query] = split_largest[query];
      masses[query] = split_masses[query];
      for (std::size_t d = 0; d < width(); ++d) sum[d] = split[d] + 0.0f;
      return;
    }
    const float m = split_largest[query] > largest[query] ? split_largest[query] : largest[query];
    const float shrink = float32_exponential(largest[query] - m);
    const float weight = float32_exponential(split_largest[query] - m);
    largest[query] = m;
    masses[query] = fused_multiply_add(split_masses[query], weight, masses[query] * shrink);
    for (std::size_t d = 0; d < width(); ++d) {
      sum[d] = fused_multiply_add(split[d] + 0.0f, weight, sum[d] * shrink);
    }
  }
};

/// An item is one head of keys and values of some rows.
struct PairAttend {
  AttentionShape shape;
  float scale;
  const float* query_key_value;  // [rows, shape.row_floats]
  TokenRows batch;
  PagePart keys;            // [key_value_heads, head_dim / 2, page_tokens, 2]
  PagePart values;          // [key_value_heads, page_tokens / 2, head_dim, 2]
  std::uint16_t* attended;  // [rows, heads, head_dim]

  AttentionTiling tiling() const { return {batch.rows, shape.heads, shape.key_value_heads}; }
  std::size_t items() const { return tiling().items(); }

  void operator()(std::size_t item) const {
    const auto cut = tiling();
    const std::size_t begin =
        cut.group(item) * page_tokens * shape.head_dim * sizeof(std::uint16_t);
    PairQueries some;
    some.rows = {batch, cut.first_row(item), cut.rows_of(item)};
    some.head_dim = shape.head_dim;
    some.scale = scale;
    some.keys = {keys.memory, keys.begin + begin};
    some.values = {values.memory, values.begin + begin};
    for (std::size_t first = 0; first < cut.item_heads(); first += PairQueries::most) {
      const std::size_t left = cut.item_heads() - first;
      some.heads = left < PairQueries::most ? left : PairQueries::most;
      some.take(host_scratch(PairQueries::words(some.count(), shape.head_dim)));
      const std::size_t head = cut.first_head(item) + first;
      some.attend(query_key_value + some.rows.first * shape.row_floats + head * shape.head_dim,
                  shape.row_floats,
                  attended + (some.rows.first * shape.heads + head) * shape.head_dim,
                  shape.heads * shape.head_dim);
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
