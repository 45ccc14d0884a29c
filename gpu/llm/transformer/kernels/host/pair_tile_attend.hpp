#pragma once

#include "gpu/llm/transformer/kernels/host/attention_rows.hpp"
#include "gpu/llm/transformer/kernels/host/pair_tile_products.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"

// Scores and sums of values of the arithmetic `bfloat16-pairs` by tiles, where the instruction set
// has them: those of a run of queries and the positions of a split, at once.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Whether the queries of a run go by tiles. Making tiles of keys and values costs fewer too much.
inline bool attends_by_tiles(std::size_t queries) {
  constexpr std::size_t least_queries = 6;
  return sums_in_tiles && queries >= least_queries;
}

/// Words of a row of tiles that has so many pairs.
constexpr std::size_t tile_row_words(std::size_t pairs) {
  return (pairs + segment_pairs - 1) / segment_pairs * segment_pairs;
}

/// Puts the words of a row, whole segments, into the order of tiles.
inline void order_row_for_tiles(std::uint32_t* words, std::size_t count) {
#if defined(TEMPERA_TILES)
  for (std::size_t i = 0; i < count; i += segment_pairs) {
    *reinterpret_cast<WordsInMemory*>(words + i) = tile_words_of_row(load_words(words + i));
  }
#else
  static_cast<void>(words);
  static_cast<void>(count);
#endif
}

/// Some queries and the keys and values of a split that they all look at.
struct TileRun {
  std::size_t queries;
  std::size_t head_dim;
  std::size_t positions;       // of the split, from its first on: those that some query sees
  const std::uint32_t* pages;  // of the split

  std::size_t page_count() const { return (positions + page_tokens - 1) / page_tokens; }
  /// Words of memory that the tiles of keys take, and those of values.
  static std::size_t key_words(std::size_t head_dim) {
    return split_positions * tile_row_words(head_dim / 2);
  }
  static std::size_t value_words(std::size_t head_dim) {
    return split_positions / 2 * ((head_dim + lanes - 1) / lanes * lanes);
  }

  /// scores[query, s] = query · key_s, for all positions of the pages; up to 15 rows more are
  /// overwritten. query_words: [queries, tile_row_words(head_dim / 2)] in the order of tiles; keys:
  /// [head_dim / 2, page_tokens, 2]; memory: key_words.
  void score(const std::uint32_t* query_words, const PagePart& keys, std::uint32_t* memory,
             float* scores) const;

  /// sums[query, d] = Σ_s shares[query, s] · value_s[d]; up to 15 rows more are overwritten.
  /// shares: [queries, split_positions / 2] in the order of tiles; values: [page_tokens / 2,
  /// head_dim, 2]; memory: value_words; sums: [queries, width].
  void sum(const std::uint32_t* shares, const PagePart& values, std::uint32_t* memory, float* sums,
           std::size_t width) const;
};

#if defined(TEMPERA_TILES)

/// sums[row, block] = Σ inputs · weights, for all rows and blocks of 16. inputs: [rows, row_words];
/// weights: [blocks, segments, tile_words].
inline void multiply_tiles(std::size_t rows, std::size_t blocks, std::size_t segments,
                           const std::uint32_t* inputs, std::size_t row_words,
                           const std::uint32_t* weights, float* sums, std::size_t stride) {
  const Tiles tiles;
  add_by_tiles(rows, {inputs, row_words, segment_pairs, tile_side * row_words}, weights,
               segments * tile_words, blocks, segments, true, sums, stride);
}

inline void TileRun::score(const std::uint32_t* query_words, const PagePart& keys,
                           std::uint32_t* memory, float* scores) const {
  const std::size_t pairs = head_dim / 2;
  const std::size_t filled = tile_row_words(pairs);
  const BitsRegister zeros{};
  for (std::size_t page = 0; page < page_count(); ++page) {
    const auto* const stored = part_of_page<std::uint32_t>(keys, pages[page]);
    std::uint32_t* const target = memory + page * filled * lanes;
    for (std::size_t pair = 0; pair < filled; pair += 2) {
      const auto words = [&](std::size_t i) {
        return i < pairs ? load_words(stored + i * lanes) : zeros;
      };
      store_tile_words(words(pair), words(pair + 1), target + pair * lanes);
    }
  }
  multiply_tiles(queries, page_count(), filled / segment_pairs, query_words, filled, memory, scores,
                 split_positions);
}

inline void TileRun::sum(const std::uint32_t* shares, const PagePart& values, std::uint32_t* memory,
                         float* sums, std::size_t width) const {
  const std::size_t pairs = (positions + 1) / 2;
  const std::size_t filled = tile_row_words(pairs);
  const BitsRegister zeros{};
  for (std::size_t pair = 0; pair < filled; pair += 2) {
    // A pair of positions, or zeros: what is not there yet may hold anything.
    const auto* const stored =
        part_of_page<std::uint32_t>(values, pages[pair < pairs ? pair / (page_tokens / 2) : 0]) +
        pair % (page_tokens / 2) * head_dim;
    const auto words = [&](std::size_t i, std::size_t d) {
      if (i >= pairs) return zeros;
      const BitsRegister both = load_words(stored + (i - pair) * head_dim + d);
      return 2 * i + 1 < positions ? both : both & 0xFFFFU;
    };
    for (std::size_t d = 0; d < width; d += lanes) {
      store_tile_words(words(pair, d), words(pair + 1, d), memory + d * filled + pair * lanes);
    }
  }
  multiply_tiles(queries, width / lanes, filled / segment_pairs, shares, split_positions / 2,
                 memory, sums, width);
}

#else

inline void TileRun::score(const std::uint32_t*, const PagePart&, std::uint32_t*, float*) const {}
inline void TileRun::sum(const std::uint32_t*, const PagePart&, std::uint32_t*, float*,
                         std::size_t) const {}

#endif

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
