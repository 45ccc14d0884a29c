#pragma once

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/kernels/host/attention_rows.hpp"
#include "gpu/llm/transformer/kernels/host/exponential_lanes.hpp"
#include "gpu/llm/transformer/kernels/host/pair_products.hpp"
#include "gpu/llm/transformer/kernels/host/pair_tile_attend.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_attend.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/softmax_factor.hpp"
#include "gpu/llm/transformer/kernels/tree_sum.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Some queries that look at the same heads of keys and values, those of one row after those of
/// another; each has its own sequence of operations, whatever others are here. Memory is taken from
/// the thread's own.
struct PairQueries {
  static constexpr std::size_t most = AttentionTiling::most_queries;
  static constexpr std::size_t chunk = pair_segment_inputs;  // positions that are summed together
  static constexpr std::size_t chunk_pages = chunk / page_tokens;
  static constexpr float lowest = -3.402823466e+38f;

  std::size_t heads;  // of a row
  AttentionRows rows;
  std::size_t head_dim;
  std::size_t window;  // AttentionReach's
  const float* sinks;  // [heads], or null
  float scale;
  PagePart keys;    // begins at those of the head: [head_dim / 2, page_tokens, 2]
  PagePart values;  // the same: [page_tokens / 2, head_dim, 2]

  /// Whether queries and shares are made floats: where pairs are parted, every block of 16 sums
  /// would make them so anew. A form with tiles parts the pairs of few queries too.
  bool takes_floats() const { return pairs_are_parted && !by_tiles; }

  bool by_tiles;           // whether words are in the order of tiles, and rows filled up to 16
  std::uint32_t* queries;  // [count, query_words] pairs, or floats
  float* scores;           // [count, split_positions]; then shares that are made floats
  std::uint32_t* shares;   // [count, split_positions / 2] pairs
  float* split_sums;       // [count, width]
  float* sums;             // [count, width]
  std::uint32_t* half;     // [width]
  std::uint32_t* tails;    // [chunk_pages, width]: the last pairs of pages
  std::uint32_t* tiles;    // of keys or values
  float largest[most];
  float split_largest[most];
  float masses[most];
  float split_masses[most];

  std::size_t count() const { return rows.rows * heads; }
  /// Elements of a head, filled up to whole blocks.
  std::size_t width() const { return (head_dim + lanes - 1) / lanes * lanes; }
  std::size_t query_words() const {
    return by_tiles         ? tile_row_words(head_dim / 2)
           : takes_floats() ? pairs_of(head_dim) * pair_inputs
                            : head_dim / 2;
  }
  /// Calls take(member, words) for each of the arrays above.
  template <class Take>
  void for_each_array(const Take& take) {
    const std::size_t filled = by_tiles ? count() + tile_side - 1 : count();
    take(queries, filled * query_words());
    take(scores, filled * split_positions);
    take(shares, filled * split_positions / 2);
    take(split_sums, filled * width());
    take(sums, count() * width());
    take(half, width());
    take(tails, chunk_pages * width());
    const std::size_t of_keys = TileRun::key_words(head_dim);
    const std::size_t of_values = TileRun::value_words(head_dim);
    take(tiles, !by_tiles ? 0 : of_keys > of_values ? of_keys : of_values);
  }
  void take_memory() {
    const auto whole = [](std::size_t words) { return (words + lanes - 1) / lanes * lanes; };
    std::size_t needed = 0;
    for_each_array([&](auto& /*member*/, std::size_t words) { needed += whole(words); });
    float* memory = host_scratch(needed);
    for_each_array([&](auto& member, std::size_t words) {
      member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(memory);
      memory += whole(words);
    });
  }
  /// Whether the largest run of queries that look at the same first positions is large enough.
  bool pays_by_tiles() const {
    std::size_t largest_run = 0;
    rows.for_each_run(0, split_positions / page_tokens, [&](const AttentionRows::Run& run) {
      if (run.end - run.first > largest_run) largest_run = run.end - run.first;
    });
    return attends_by_tiles(largest_run * heads);
  }
  TileRun tile_run(const AttentionRows::Run& run, std::size_t first) const {
    const std::size_t seen = run.context - first;
    return {(run.end - run.first) * heads, head_dim,
            seen < split_positions ? seen : split_positions, run.pages + first / page_tokens};
  }

  /// query_key_value: of the first row, from the first head on; attended: the same.
  void attend(const float* query_key_value, std::size_t row_floats, std::uint16_t* attended,
              std::size_t attended_stride) {
    for (std::size_t query = 0; query < count(); ++query) {
      const float* const from =
          query_key_value + query / heads * row_floats + query % heads * head_dim;
      std::uint32_t* const words = queries + query * query_words();
      if (takes_floats()) {
        auto* const target = reinterpret_cast<float*>(words);
        for (std::size_t i = 0; i < head_dim; ++i) {
          target[place_of_input(i).number(i % pair_inputs)] = from_bfloat16(to_bfloat16(from[i]));
        }
        continue;
      }
      auto* const target = reinterpret_cast<std::uint16_t*>(words);
      for (std::size_t i = 0; i < head_dim; ++i) target[i] = to_bfloat16(from[i]);
      if (!by_tiles) continue;
      for (std::size_t i = head_dim; i < query_words() * 2; ++i) target[i] = 0;
      order_row_for_tiles(words, query_words());
    }
    const std::size_t end = rows.longest();
    const std::size_t start = rows.earliest(window) / split_positions * split_positions;
    for (std::size_t first = start; first < end; first += split_positions) {
      score_split(first);
      for (std::size_t row = 0; row < rows.rows; ++row) {
        if (rows.context(row) <= first) continue;
        for (std::size_t head = 0; head < heads; ++head) {
          share(row * heads + head,
                slots_before(first_seen(rows.context(row), window), first, split_positions),
                rows.context(row) - first, used_of_split(first));
        }
      }
      sum_split(first);
      for (std::size_t row = 0; row < rows.rows; ++row) {
        if (rows.context(row) <= first) continue;
        for (std::size_t head = 0; head < heads; ++head) join(row * heads + head, first == start);
      }
    }
    for (std::size_t row = 0; row < rows.rows; ++row) {
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t query = row * heads + head;
        const float factor = softmax_factor(masses[query], largest[query],
                                            sinks == nullptr ? nullptr : sinks + head);
        std::uint16_t* const target = attended + row * attended_stride + head * head_dim;
        const float* const sum = sums + query * width();
        for (std::size_t d = 0; d < head_dim; ++d) target[d] = to_bfloat16(sum[d] * factor);
      }
    }
  }

  /// Calls add with the inputs that there are without tiles.
  template <class Add>
  static void with(const WordInputs& words, const FloatInputs& floats, const Add& add) {
    if constexpr (pairs_are_parted) {
      add(floats);
    } else {
      add(words);
    }
  }

  /// Positions of the split that any row sees, up to whole chunks.
  std::size_t used_of_split(std::size_t first) const {
    const std::size_t seen = rows.longest() - first;
    return seen < split_positions ? (seen + chunk - 1) / chunk * chunk : split_positions;
  }

  /// scores[query, s] = query · key_{first + s}; what is past a row's context nobody reads.
  void score_split(std::size_t first) {
    if (by_tiles) {
      rows.for_each_run(first, split_positions / page_tokens, [&](const AttentionRows::Run& run) {
        const std::size_t query = run.first * heads;
        tile_run(run, first)
            .score(queries + query * query_words(), keys, tiles, scores + query * split_positions);
      });
      return;
    }
    const std::size_t end = rows.longest();
    const std::size_t used = used_of_split(first);
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
        const std::uint32_t* const words = queries + run.first * heads * query_words();
        with(WordInputs{words, query_words()},
             FloatInputs{reinterpret_cast<const float*>(words), query_words()},
             [&](const auto& inputs) {
               add_pair_products((run.end - run.first) * heads, there, head_dim / 2, inputs, blocks,
                                 scores + run.first * heads * split_positions + (begin - first),
                                 split_positions);
             });
      });
    }
  }

  /// The weight of every position of a split, not yet divided by their sum. positions: up to the
  /// query's own, from the split's first on; hidden: those of them that it does not see; used:
  /// those that any query here sees. A split that is hidden has masses and sums of zero, which
  /// leave those of the others as they are.
  void share(std::size_t query, std::size_t hidden, std::size_t positions, std::size_t used) {
    float* const score = scores + query * split_positions;
    const std::size_t seen = positions < split_positions ? positions : split_positions;
    const std::size_t filled = (seen + page_tokens - 1) / page_tokens * page_tokens;
    constexpr std::size_t registers = page_tokens / register_lanes;
    FloatRegister of_lane[registers];
    for (FloatRegister& lane : of_lane) lane = broadcast_register(lowest);
    for (std::size_t begin = 0; begin < filled; begin += page_tokens) {
      for (std::size_t i = 0; i < page_tokens; i += register_lanes) {
        auto* const memory = reinterpret_cast<FloatsInMemory*>(score + begin + i);
        *memory = broadcast_register(scale) * (*memory + broadcast_register(0.0f));
      }
      for (std::size_t s = seen; s < begin + page_tokens; ++s) score[s] = lowest;
      for (std::size_t s = begin; s < hidden && s < begin + page_tokens; ++s) score[s] = lowest;
      for_each_index<registers>([&](auto i) {
        of_lane[i] =
            largest_register(load_register(score + begin + i * register_lanes), of_lane[i]);
      });
    }
    for (std::size_t i = 1; i < registers; ++i)
      of_lane[0] = largest_register(of_lane[i], of_lane[0]);
    const float m = largest_lane(of_lane[0]);
    auto* const share = reinterpret_cast<std::uint16_t*>(shares + query * split_positions / 2);
    alignas(64) float partial[page_tokens] = {};
    std::size_t begin = 0;
    for (; begin < hidden && begin < filled; begin += page_tokens) {
      share_pages<1>(score + begin, m, hidden - begin, seen - begin, share + begin, partial);
    }
    // Four pages at a time, those that are whole, then one at a time.
    for (; begin + 4 * page_tokens <= seen; begin += 4 * page_tokens) {
      share_pages<4>(score + begin, m, 0, page_tokens, share + begin, partial);
    }
    for (; begin < filled; begin += page_tokens) {
      share_pages<1>(score + begin, m, 0, seen - begin, share + begin, partial);
    }
    // Others, which see more, may take these weights along.
    for (std::size_t s = filled; s < split_positions; ++s) share[s] = 0;
    if (by_tiles) order_row_for_tiles(shares + query * split_positions / 2, split_positions / 2);
    if (takes_floats()) make_floats(share, used, score);
    split_largest[query] = m;
    split_masses[query] = tree_sum(partial);
  }

  /// What the positions of some pages weigh, rounded, and added to the partial sums. Of one page
  /// the positions from `hidden` on and before `there` do, and the others nothing.
  template <std::size_t Pages>
  static void share_pages(const float* score, float m, std::size_t hidden, std::size_t there,
                          std::uint16_t* share, float (&partial)[page_tokens]) {
    constexpr std::size_t page_registers = page_tokens / register_lanes;
    constexpr std::size_t registers = Pages * page_registers;
    FloatRegister weights[registers];
    for_each_index<registers>([&](auto i) {
      weights[i] = load_register(score + i * register_lanes) - broadcast_register(m);
    });
    exponentials(weights);
    for_each_index<registers>([&](auto i) {
      BitsRegister words = to_bfloat16_register(weights[i]);
      if constexpr (Pages == 1) {
        words &= lanes_before(there, i * register_lanes);
        words &= ~lanes_before(hidden, i * register_lanes);
      }
      *reinterpret_cast<HalvesInMemory*>(share + i * register_lanes) =
          __builtin_convertvector(words, HalfRegister);
      auto* const sum =
          reinterpret_cast<FloatsInMemory*>(partial + i % page_registers * register_lanes);
      *sum = *sum + reinterpret_cast<FloatRegister>(words << 16);
    });
  }

  /// All bits of the lanes whose numbers, from `first` on, are below `end`.
  static BitsRegister lanes_before(std::size_t end, std::size_t first) {
    alignas(64) std::uint32_t bits[register_lanes];
    for (std::size_t i = 0; i < register_lanes; ++i) bits[i] = first + i < end ? ~0U : 0U;
    return load_words(bits);
  }

  /// The last pair of a page, in whole blocks.
  const std::uint32_t* filled_up(const std::uint32_t* last, std::size_t page) const {
    std::uint32_t* const tail = tails + page * width();
    for (std::size_t d = 0; d < width(); ++d) tail[d] = d < head_dim ? last[d] : 0;
    return tail;
  }

  /// split_sums[query, d] = Σ_s shares[query, s] · value_{first + s}[d].
  void sum_split(std::size_t first) {
    if (by_tiles) {
      rows.for_each_run(first, split_positions / page_tokens, [&](const AttentionRows::Run& run) {
        const std::size_t query = run.first * heads;
        tile_run(run, first)
            .sum(shares + query * split_positions / 2, values, tiles, split_sums + query * width(),
                 width());
      });
      return;
    }
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
          const std::size_t within = pair % (page_tokens / 2);
          values_of.of_pair[pair] =
              part_of_page<std::uint32_t>(values, run.pages[page]) + within * head_dim;
          // Whole blocks are read, and after the last pair of a page its memory may end.
          if (width() != head_dim && within + 1 == page_tokens / 2)
            values_of.of_pair[pair] = filled_up(values_of.of_pair[pair], pair / (page_tokens / 2));
        }
        if (seen % 2 != 0) {
          // The pair's later value is not there yet, and its memory may hold anything.
          const std::uint32_t* const last = values_of.of_pair[pairs - 1];
          for (std::size_t d = 0; d < head_dim; ++d) half[d] = last[d] & 0xFFFFU;
          for (std::size_t d = head_dim; d < width(); ++d) half[d] = 0;
          values_of.of_pair[pairs - 1] = half;
        }
        const std::size_t share = run.first * heads * split_positions + begin - first;
        with(WordInputs{shares + share / 2, split_positions / 2},
             FloatInputs{scores + share, split_positions}, [&](const auto& inputs) {
               add_pair_products((run.end - run.first) * heads, width() / lanes, pairs, inputs,
                                 values_of, split_sums + run.first * heads * width(), width());
             });
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
  std::size_t window = 0;   // AttentionReach's
  const float* sinks = nullptr;

  AttentionTiling tiling() const { return {batch.rows, shape.heads, shape.key_value_heads}; }
  std::size_t items() const { return tiling().items(); }

  void operator()(std::size_t item) const {
    const auto cut = tiling();
    const std::size_t begin =
        cut.group(item) * page_tokens * shape.head_dim * sizeof(std::uint16_t);
    PairQueries some;
    some.rows = {batch, cut.first_row(item), cut.rows_of(item)};
    some.head_dim = shape.head_dim;
    some.window = window;
    some.scale = scale;
    some.keys = part_after(keys, begin);
    some.values = part_after(values, begin);
    for (std::size_t first = 0; first < cut.item_heads(); first += PairQueries::most) {
      const std::size_t left = cut.item_heads() - first;
      some.heads = left < PairQueries::most ? left : PairQueries::most;
      some.by_tiles = some.pays_by_tiles();
      some.take_memory();
      const std::size_t head = cut.first_head(item) + first;
      some.sinks = sinks == nullptr ? nullptr : sinks + head;
      some.attend(query_key_value + some.rows.first * shape.row_floats + head * shape.head_dim,
                  shape.row_floats,
                  attended + (some.rows.first * shape.heads + head) * shape.head_dim,
                  shape.heads * shape.head_dim);
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
