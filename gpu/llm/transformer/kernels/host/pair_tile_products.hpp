#pragma once

#include "gpu/device/pair_tiles.hpp"
#include "gpu/llm/transformer/kernels/host/pair_weights.hpp"

// Products of many rows of the arithmetic `bfloat16-pairs` by tiles, where the instruction set has
// them. A sum takes segment after segment, as everywhere.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Whether a product of so many rows goes by tiles. Fewer, which take weights from where they are
/// stored, are faster by multiply-adds.
template <class Weights>
inline bool takes_tiles(std::size_t rows) {
  return sums_in_tiles && rows > Weights::direct_rows;
}

/// Rows of words in the order of tiles, of which tiles take 16 at a time.
struct TileRows {
  const std::uint32_t* words;
  std::size_t stride;        // from one row to the next of a tile
  std::size_t segment_step;  // from one segment to the next
  std::size_t tile_step;     // from 16 rows to the next 16

  TileRows from(std::size_t tile) const {
    return {words + tile * tile_step, stride, segment_step, tile_step};
  }
};

/// The inputs of a product as tiles take them: [tiles of 16 rows, segments, 16 rows, 16 words].
/// Rows and inputs are filled up with zeros.
struct TileInputs {
  const std::uint16_t* inputs;  // [rows, in]
  std::size_t rows;
  std::size_t in;
  std::uint32_t* packed;  // packed_words

  static std::size_t filled_rows(std::size_t rows) {
    return (rows + tile_side - 1) / tile_side * tile_side;
  }
  static std::size_t packed_words(std::size_t rows, std::size_t in) {
    return filled_rows(rows) * pairs_of(in);
  }

  /// Packs a row, or fills one up. Range: row < filled_rows
  void pack(std::size_t row) const {
#if defined(TEMPERA_TILES)
    std::uint32_t* const target =
        packed + row / tile_side * tile_side * pairs_of(in) + row % tile_side * segment_pairs;
    const std::uint16_t* const values = inputs + row * in;
    for (std::size_t begin = 0; begin < in; begin += pair_segment_inputs) {
      const std::size_t left = row < rows ? in - begin : 0;
      const __mmask32 there =
          left < pair_segment_inputs ? (__mmask32{1} << left) - 1 : ~__mmask32{0};
      const __m512i words = _mm512_maskz_loadu_epi16(there, values + begin);
      *reinterpret_cast<WordsInMemory*>(target + begin / pair_segment_inputs * tile_words) =
          tile_words_of_row(reinterpret_cast<BitsRegister>(words));
    }
#else
    static_cast<void>(row);
#endif
  }
  /// From a row on, a multiple of 16, and from a segment on.
  TileRows from(std::size_t row, std::size_t segment) const {
    return {packed + row * pairs_of(in) + segment * tile_words, segment_pairs, tile_words,
            tile_side * pairs_of(in)};
  }
};

#if defined(TEMPERA_TILES)

/// The weights of a run: of each block its segments' tiles. Those that few rows take once are used
/// while they are in the first-level cache. For many rows runs are as long as there is room, so
/// that sums seldom leave their tiles: the second-level cache gives inputs and weights as fast as
/// they are multiplied.
struct alignas(64) TileRoom {
  static constexpr std::size_t most_tiles = 128;
  /// 256 inputs: where runs begin, blocks of quantised weights begin too.
  static constexpr std::size_t near_segments = 8;
  static constexpr std::size_t most_near_rows = 64;

  std::size_t segments;  // of a run
  std::uint32_t tiles[most_tiles * tile_words];

  TileRoom(std::size_t rows, std::size_t blocks)
      : segments(rows <= most_near_rows ? near_segments
                                        : most_tiles / blocks / near_segments * near_segments) {}
  std::size_t block_words() const { return segments * tile_words; }
  std::uint32_t* of_block(std::size_t block) { return tiles + block * block_words(); }
};

/// Makes tiles of the segments first … end - 1 of a block of outputs.
inline void make_tiles(const PackedPairs& weights, std::size_t output, std::size_t first,
                       std::size_t end, const std::byte* /*ahead*/, std::uint32_t* tiles) {
  const std::uint32_t* const stored = weights.words + output * pairs_of(weights.in);
  for (std::size_t segment = first; segment < end; ++segment, tiles += tile_words) {
    const std::uint32_t* const pairs = stored + segment * tile_words;
    for (std::size_t pair = 0; pair < segment_pairs; pair += 2) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(pairs + pair * lanes);
      __builtin_prefetch(bytes + stream_ahead, 0, 2);
      __builtin_prefetch(bytes + stream_ahead + 64, 0, 2);
      store_tile_words(load_words(pairs + pair * lanes), load_words(pairs + (pair + 1) * lanes),
                       tiles + pair * lanes);
    }
  }
}
inline void make_tiles(const QuantisedPairs& weights, std::size_t output, std::size_t first,
                       std::size_t end, const std::byte* ahead, std::uint32_t* tiles) {
  with_block_reader<1>(weights.weights, output, [&](const auto& reader) {
    using Reader = std::remove_cvref_t<decltype(reader)>;
    const std::size_t begin = first * pair_segment_inputs;
    BitsRegister numbers[4];
    reader(
        begin, end * pair_segment_inputs,
        [&](std::size_t i, const FloatLanes<lanes>& weight) __attribute__((always_inline)) {
          const std::size_t place = i - begin;
          if (i % 4 == 0) __builtin_prefetch(ahead + place * 16, 0, 2);
          numbers[i % 4] =
              reinterpret_cast<BitsRegister>(rounded_to_bfloat16<Reader::type>(weight.parts[0]));
          if (i % 4 != 3) return;
          // The last four numbers are two pairs.
          std::uint32_t* const target = tiles + (place - 3) / pair_inputs * lanes;
          *reinterpret_cast<WordsInMemory*>(target) = (numbers[1] >> 16) | numbers[3];
          *reinterpret_cast<WordsInMemory*>(target + lanes) = (numbers[0] >> 16) | numbers[2];
        });
  });
}

/// sums[row, b] + the segments of inputs and weights, for 16 · RowTiles rows and Blocks blocks.
/// weights: of each block [segments, tile_words]; sums: [16 RowTiles, stride], zeros if they begin.
template <std::size_t RowTiles, std::size_t Blocks>
inline void add_segments(const TileRows (&inputs)[RowTiles],
                         const std::uint32_t* const (&weights)[Blocks], std::size_t segments,
                         bool begin, float* sums, std::size_t stride) {
  static_assert(RowTiles * Blocks <= 4 && RowTiles <= 2);
  constexpr int first_inputs = 4;
  constexpr int first_weights = 6;
  const auto for_each_sums = [&](const auto& work) __attribute__((always_inline)) {
    for_each_sum<RowTiles, Blocks>([&](auto row, auto block) __attribute__((always_inline)) {
      work(std::integral_constant<int, row * Blocks + block>{},
           sums + row * tile_side * stride + block * lanes);
    });
  };
  if (begin) {
    for_each_sums([&](auto tile, float* /*memory*/) { Tiles::clear<tile>(); });
  } else {
    for_each_sums([&](auto tile, float* memory) { Tiles::load<tile>(memory, stride); });
  }
  for (std::size_t segment = 0; segment < segments; ++segment) {
    for_each_index<RowTiles>([&](auto row) __attribute__((always_inline)) {
      const std::uint32_t* const words = inputs[row].words + segment * inputs[row].segment_step;
      Tiles::load<first_inputs + row>(words, inputs[row].stride);
    });
    for_each_index<Blocks>([&](auto block) __attribute__((always_inline)) {
      constexpr int taken = first_weights + block % 2;
      Tiles::load<taken>(weights[block] + segment * tile_words, segment_pairs);
      for_each_index<RowTiles>([&](auto row) __attribute__((always_inline)) {
        Tiles::add<row * Blocks + block, first_inputs + row, taken>();
      });
    });
  }
  for_each_sums([&](auto tile, float* memory) { Tiles::store<tile>(memory, stride); });
}

/// Does so for all blocks from `block` on, as many at a time as there are tiles for. weights:
/// [blocks, block_words].
template <std::size_t RowTiles, std::size_t Blocks = 4 / RowTiles>
inline void add_to_blocks(const TileRows (&inputs)[RowTiles], const std::uint32_t* weights,
                          std::size_t block_words, std::size_t block, std::size_t blocks,
                          std::size_t segments, bool begin, float* sums, std::size_t stride) {
  for (; block + Blocks <= blocks; block += Blocks) {
    const std::uint32_t* taken[Blocks];
    for (std::size_t i = 0; i < Blocks; ++i) taken[i] = weights + (block + i) * block_words;
    add_segments<RowTiles, Blocks>(inputs, taken, segments, begin, sums + block * lanes, stride);
  }
  if constexpr (Blocks > 1) {
    add_to_blocks<RowTiles, Blocks - 1>(inputs, weights, block_words, block, blocks, segments,
                                        begin, sums, stride);
  }
}

/// Does so for any number of rows, of which up to 15 more are overwritten. @pre there are Tiles
inline void add_by_tiles(std::size_t rows, const TileRows& inputs, const std::uint32_t* weights,
                         std::size_t block_words, std::size_t blocks, std::size_t segments,
                         bool begin, float* sums, std::size_t stride) {
  const std::size_t tiles = (rows + tile_side - 1) / tile_side;
  std::size_t tile = 0;
  for (; tile + 2 <= tiles; tile += 2) {
    const TileRows both[] = {inputs.from(tile), inputs.from(tile + 1)};
    add_to_blocks<2>(both, weights, block_words, 0, blocks, segments, begin,
                     sums + tile * tile_side * stride, stride);
  }
  if (tile < tiles) {
    const TileRows one[] = {inputs.from(tile)};
    add_to_blocks<1>(one, weights, block_words, 0, blocks, segments, begin,
                     sums + tile * tile_side * stride, stride);
  }
}

/// The products of an item.
template <class Weights>
inline void tile_products_of_item(const ProductItem& item, const Float32Tiling& tiling,
                                  const TileInputs& inputs, const Weights& weights,
                                  ItemProducts& products) {
  TileRoom room(item.rows, item.blocks());
  const WeightsAhead next = weights.ahead(item, tiling);
  const std::size_t segments = pairs_of(inputs.in) / segment_pairs;
  const Tiles tiles;
  for (std::size_t begin = 0; begin < segments; begin += room.segments) {
    const std::size_t left = segments - begin;
    const std::size_t taken = left < room.segments ? left : room.segments;
    for (std::size_t block = 0; block < item.blocks(); ++block) {
      const std::size_t segments_before = begin * item.blocks() + block * taken;
      make_tiles(weights, item.first_output + block * lanes, begin, begin + taken,
                 next.after(segments_before * pair_segment_inputs,
                            reinterpret_cast<const std::byte*>(room.of_block(block))),
                 room.of_block(block));
    }
    add_by_tiles(item.rows, inputs.from(item.first_row, begin), room.tiles, room.block_words(),
                 item.blocks(), taken, begin == 0, products.of_row[0], most_item_outputs);
  }
}

#else

template <class Weights>
inline void tile_products_of_item(const ProductItem&, const Float32Tiling&, const TileInputs&,
                                  const Weights&, ItemProducts&) {}

#endif

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
