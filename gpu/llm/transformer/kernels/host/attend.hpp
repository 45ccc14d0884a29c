#pragma once

#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/kernels/host/attention_rows.hpp"
#include "gpu/llm/transformer/kernels/host/exponential_lanes.hpp"
#include "gpu/llm/transformer/kernels/host/run_products.hpp"
#include "gpu/llm/transformer/kernels/softmax_factor.hpp"
#include "gpu/llm/transformer/kernels/tree_sum.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// An item is one head of keys and values of some rows; a vector runs across the slots of a page,
/// or across the elements of a head. Positions that a query does not see
/// weigh nothing, which leaves its largest score, masses and sums as they are.
struct Attend {
  /// Pages that are looked at together; memory gives several at once sooner than one after another.
  static constexpr std::size_t pages_together = 4;
  static constexpr std::size_t positions_together = pages_together * page_tokens;
  /// Queries, and vectors beside each other, whose sums stay in registers.
  static constexpr std::size_t tile_queries = register_lanes == 16  ? 6
                                              : register_lanes == 8 ? 3
                                                                    : 1;
  static constexpr std::size_t tile_blocks = register_lanes == 16 ? 4 : register_lanes == 8 ? 2 : 1;
  static constexpr float lowest = -3.402823466e+38f;

  AttentionShape shape;
  float scale;
  const float* query_key_value;  // [rows, shape.row_floats]
  TokenRows batch;
  PagePart keys;           // [key_value_heads, head_dim, page_tokens]
  PagePart values;         // [key_value_heads, page_tokens, head_dim]
  float* attended;         // [rows, heads, head_dim]
  std::size_t window = 0;  // AttentionReach's
  const float* sinks = nullptr;

  AttentionTiling tiling() const { return {batch.rows, shape.heads, shape.key_value_heads}; }
  std::size_t items() const { return tiling().items(); }

  /// What is known of one query after some pages.
  struct alignas(64) Query {
    float masses[page_tokens];
    float scores[positions_together];  // then what each position weighs
    float shrink[pages_together];
    float page_largest[pages_together];  // of all positions up to the page's last
    float largest;
    std::size_t first;  // position that it sees
    std::size_t context;
    const float* query;  // [head_dim]
    float* sum;          // [head_dim]

    std::size_t tokens(std::size_t position) const {
      const std::size_t left = context > position ? context - position : 0;
      return left < page_tokens ? left : page_tokens;
    }
  };

  void operator()(std::size_t item) const {
    const auto cut = tiling();
    const std::size_t group = cut.group(item);
    const AttentionRows rows{batch, cut.first_row(item), cut.rows_of(item)};
    for (std::size_t first = 0; first < cut.item_heads(); first += AttentionTiling::most_queries) {
      const std::size_t left = cut.item_heads() - first;
      attend(rows, group, cut.first_head(item) + first,
             left < AttentionTiling::most_queries ? left : AttentionTiling::most_queries);
    }
  }

  /// Some heads of the rows, all of one group. rows.rows · heads <= most_queries.
  void attend(const AttentionRows& rows, std::size_t group, std::size_t first_head,
              std::size_t heads) const {
    Query queries[AttentionTiling::most_queries];
    for (std::size_t i = 0; i < rows.rows * heads; ++i) {
      Query& query = queries[i];
      const std::size_t row = rows.first + i / heads;
      const std::size_t head = first_head + i % heads;
      query.context = rows.context(i / heads);
      query.first = first_seen(query.context, window);
      query.query = query_key_value + row * shape.row_floats + head * shape.head_dim;
      query.sum = attended + (row * shape.heads + head) * shape.head_dim;
      query.largest = lowest;
      for (float& mass : query.masses) mass = 0.0f;
      for (std::size_t d = 0; d < shape.head_dim; ++d) query.sum[d] = 0.0f;
    }
    const std::size_t head_begin = group * shape.head_dim * page_tokens;
    const std::size_t end = rows.longest();
    for (std::size_t begin = rows.earliest(window) / positions_together * positions_together;
         begin < end; begin += positions_together) {
      rows.for_each_run(begin, pages_together, [&](const AttentionRows::Run& run) {
        const std::size_t seen = run.context - begin;
        const std::size_t pages =
            seen < positions_together ? (seen + page_tokens - 1) / page_tokens : pages_together;
        const float* page_keys[pages_together];
        const float* page_values[pages_together];
        for (std::size_t i = 0; i < pages_together; ++i) {
          const std::uint32_t page = run.pages[begin / page_tokens + (i < pages ? i : 0)];
          page_keys[i] = part_of_page<float>(keys, page) + head_begin;
          page_values[i] = part_of_page<float>(values, page) + head_begin;
        }
        Query* const some = queries + run.first * heads;
        const std::size_t count = (run.end - run.first) * heads;
        score_all(some, count, pages, page_keys, page_values);
        weigh_all(some, count, begin, pages);
        for (std::size_t i = 0; i < pages; ++i) {
          add_values(some, count, begin + i * page_tokens, i, page_values[i]);
        }
      });
    }
    for (std::size_t i = 0; i < rows.rows * heads; ++i) {
      const float* const sink = sinks == nullptr ? nullptr : sinks + first_head + i % heads;
      const float factor = softmax_factor(tree_sum(queries[i].masses), queries[i].largest, sink);
      for (std::size_t d = 0; d < shape.head_dim; ++d) queries[i].sum[d] *= factor;
    }
  }

  /// scores[p, t] = scale · Σ_d query[d] keys[p][d, t] of every query; slots past its context give
  /// what nobody reads. The values are asked for meanwhile.
  /// page_keys: [pages] of [head_dim, page_tokens]; page_values: [pages] of [page_tokens,
  /// head_dim].
  void score_all(Query* queries, std::size_t count, std::size_t pages,
                 const float* const* page_keys, const float* const* page_values) const {
    const std::size_t tiles = (count + tile_queries - 1) / tile_queries;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const std::size_t first = count * tile / tiles;
      const std::size_t rows = count * (tile + 1) / tiles - first;
      std::size_t page = 0;
      for (; page + tile_blocks <= pages; page += tile_blocks) {
        score_of<tile_queries, tile_blocks>(rows, queries + first, page, page_keys, page_values,
                                            tile == 0);
      }
      for (; page < pages; ++page) {
        score_of<tile_queries, 1>(rows, queries + first, page, page_keys, page_values, tile == 0);
      }
    }
  }
  template <std::size_t Queries, std::size_t Pages>
  void score_of(std::size_t count, Query* queries, std::size_t page, const float* const* page_keys,
                const float* const* page_values, bool asks) const {
    if constexpr (Queries > 1) {
      if (count < Queries) {
        return score_of<Queries - 1, Pages>(count, queries, page, page_keys, page_values, asks);
      }
    }
    constexpr std::size_t registers = Pages * block_registers;
    FloatRegister dots[Queries][registers];
    for_each_index<Queries>([&](auto q) {
      for_each_index<registers>([&](auto part) { dots[q][part] = broadcast_register(0.0f); });
    });
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      FloatRegister key[registers];
      for_each_index<registers>([&](auto part) {
        key[part] = load_register(page_keys[page + part / block_registers] + d * page_tokens +
                                  part % block_registers * register_lanes);
      });
      if (asks) {
        for_each_index<Pages>(
            [&](auto p) { __builtin_prefetch(page_values[page + p] + d * page_tokens); });
      }
      for_each_index<Queries>([&](auto q) {
        const FloatRegister element = broadcast_register(queries[q].query[d]);
        for_each_index<registers>([&](auto part) {
          dots[q][part] = fused_multiply_add_register(element, key[part], dots[q][part]);
        });
      });
    }
    for_each_index<Queries>([&](auto q) {
      for_each_index<registers>([&](auto part) {
        *reinterpret_cast<FloatsInMemory*>(queries[q].scores + page * page_tokens +
                                           part * register_lanes) =
            dots[q][part] * broadcast_register(scale);
      });
    });
  }

  /// Makes the scores of some pages what their positions weigh, page by page, rescaled by the
  /// running maximum. What one page and query asks for, all of them go through before the next:
  /// they wait for nothing of each other's.
  static void weigh_all(Query* queries, std::size_t count, std::size_t begin, std::size_t pages) {
    alignas(64) float shrink[AttentionTiling::most_queries * pages_together];
    for (std::size_t i = 0; i < count * pages_together; ++i) shrink[i] = 0.0f;
    for (std::size_t q = 0; q < count; ++q) {
      for (std::size_t page = 0; page < pages; ++page) {
        const std::size_t tokens = queries[q].tokens(begin + page * page_tokens);
        if (tokens == 0) break;
        float* const scores = queries[q].scores + page * page_tokens;
        for (std::size_t token = tokens; token < page_tokens; ++token) scores[token] = lowest;
        const std::size_t hidden =
            slots_before(queries[q].first, begin + page * page_tokens, page_tokens);
        for (std::size_t token = 0; token < hidden; ++token) scores[token] = lowest;
        queries[q].page_largest[page] = largest_of(scores);
      }
    }
    for (std::size_t q = 0; q < count; ++q) {
      for (std::size_t page = 0; page < pages; ++page) {
        if (queries[q].tokens(begin + page * page_tokens) == 0) break;
        float& most = queries[q].page_largest[page];
        most = most > queries[q].largest ? most : queries[q].largest;
        shrink[q * pages_together + page] = queries[q].largest - most;
        queries[q].largest = most;
      }
    }
    for (std::size_t i = 0; i < count * pages_together; ++i) {
      shrink[i] = float32_exponential(shrink[i]);
    }
    for (std::size_t q = 0; q < count; ++q) {
      if (queries[q].first <= begin && queries[q].context >= begin + positions_together) {
        weigh_whole_pages(queries[q], shrink + q * pages_together);
        continue;
      }
      for (std::size_t page = 0; page < pages; ++page) {
        const std::size_t tokens = queries[q].tokens(begin + page * page_tokens);
        if (tokens == 0) break;
        const float by = shrink[q * pages_together + page];
        weigh(queries[q].scores + page * page_tokens,
              slots_before(queries[q].first, begin + page * page_tokens, page_tokens), tokens,
              queries[q].page_largest[page], by, queries[q].masses);
        queries[q].shrink[page] = by;
      }
    }
  }
  /// The same of as many pages as are looked at together, all of whose positions the query sees.
  static void weigh_whole_pages(Query& query, const float* shrink) {
    constexpr std::size_t registers = pages_together * block_registers;
    FloatRegister weights[registers];
    for_each_index<registers>([&](auto i) {
      weights[i] = load_register(query.scores + i * register_lanes) -
                   broadcast_register(query.page_largest[i / block_registers]);
    });
    exponentials(weights);
    for_each_index<registers>([&](auto i) {
      *reinterpret_cast<FloatsInMemory*>(query.scores + i * register_lanes) = weights[i];
      auto* const mass =
          reinterpret_cast<FloatsInMemory*>(query.masses + i % block_registers * register_lanes);
      *mass = fused_multiply_add_register(*mass, broadcast_register(shrink[i / block_registers]),
                                          weights[i]);
    });
    for (std::size_t page = 0; page < pages_together; ++page) query.shrink[page] = shrink[page];
  }
  /// What the positions of a page weigh, in the place of their scores, and added to the masses.
  static void weigh(float* scores, std::size_t hidden, std::size_t tokens, float largest,
                    float shrink, float (&masses)[page_tokens]) {
    for (std::size_t token = 0; token < page_tokens; ++token) {
      const float mass = float32_exponential(scores[token] - largest);
      scores[token] = token >= hidden && token < tokens ? mass : 0.0f;
      masses[token] = fused_multiply_add(masses[token], shrink, scores[token]);
    }
  }

  /// The largest of the scores of a page. Of a positive and a negative zero either: what is made of
  /// it is the same.
  static float largest_of(const float* scores) {
    FloatRegister most = load_register(scores);
    for_each_index<block_registers - 1>([&](auto part) {
      most = largest_register(load_register(scores + (part + 1) * register_lanes), most);
    });
    return largest_lane(most);
  }

  /// sum = sum · shrink + Σ_t weights[t] values[t] of every query that sees the page, in tiles of
  /// those that see as many of its tokens. head_values: [page_tokens, head_dim].
  void add_values(Query* queries, std::size_t count, std::size_t position, std::size_t page,
                  const float* head_values) const {
    for (std::size_t first = 0; first < count;) {
      const std::size_t tokens = queries[first].tokens(position);
      std::size_t end = first + 1;
      while (end < count && end - first < tile_queries && queries[end].tokens(position) == tokens) {
        ++end;
      }
      if (tokens > 0) add_values_of(end - first, queries + first, page, tokens, head_values);
      first = end;
    }
  }
  template <std::size_t Queries = tile_queries>
  void add_values_of(std::size_t count, Query* queries, std::size_t page, std::size_t tokens,
                     const float* head_values) const {
    if constexpr (Queries > 1) {
      if (count < Queries) {
        return add_values_of<Queries - 1>(count, queries, page, tokens, head_values);
      }
    }
    constexpr std::size_t width = tile_blocks * lanes;
    std::size_t begin = 0;
    for (; begin + width <= shape.head_dim; begin += width) {
      add_values_tile<Queries, tile_blocks>(queries, page, tokens, head_values, begin);
    }
    for (; begin + lanes <= shape.head_dim; begin += lanes) {
      add_values_tile<Queries, 1>(queries, page, tokens, head_values, begin);
    }
    for (std::size_t q = 0; q < Queries; ++q) {
      for (std::size_t d = begin; d < shape.head_dim; ++d) {
        float part = queries[q].sum[d] * queries[q].shrink[page];
        for (std::size_t token = 0; token < tokens; ++token) {
          part = fused_multiply_add(queries[q].scores[page * page_tokens + token],
                                    head_values[token * shape.head_dim + d], part);
        }
        queries[q].sum[d] = part;
      }
    }
  }
  template <std::size_t Queries, std::size_t Blocks>
  void add_values_tile(Query* queries, std::size_t page, std::size_t tokens,
                       const float* head_values, std::size_t begin) const {
    constexpr std::size_t registers = Blocks * block_registers;
    FloatRegister sums[Queries][registers];
    for_each_index<Queries>([&](auto q) {
      const FloatRegister shrink = broadcast_register(queries[q].shrink[page]);
      for_each_index<registers>([&](auto part) {
        sums[q][part] = load_register(queries[q].sum + begin + part * register_lanes) * shrink;
      });
    });
    for (std::size_t token = 0; token < tokens; ++token) {
      FloatRegister value[registers];
      for_each_index<registers>([&](auto part) {
        value[part] =
            load_register(head_values + token * shape.head_dim + begin + part * register_lanes);
      });
      for_each_index<Queries>([&](auto q) {
        const FloatRegister weight =
            broadcast_register(queries[q].scores[page * page_tokens + token]);
        for_each_index<registers>([&](auto part) {
          sums[q][part] = fused_multiply_add_register(weight, value[part], sums[q][part]);
        });
      });
    }
    for_each_index<Queries>([&](auto q) {
      for_each_index<registers>([&](auto part) {
        *reinterpret_cast<FloatsInMemory*>(queries[q].sum + begin + part * register_lanes) =
            sums[q][part];
      });
    });
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
