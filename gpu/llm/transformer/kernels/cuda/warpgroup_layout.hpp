#pragma once

#include <cstddef>

#include "gpu/llm/transformer/kernels/cuda/product_layout.hpp"

namespace tempera::gpu {

/// Inputs that warpgroup_product takes at least: two stages, by turns.
constexpr unsigned warpgroup_inputs = 4 * step_inputs;

/// What a block of warpgroup_product has: tiles of 16 outputs, and tokens.
struct WarpgroupBlock {
  unsigned tiles;
  unsigned tokens;
  friend constexpr bool operator==(const WarpgroupBlock&, const WarpgroupBlock&) = default;
};

/// The blocks that there is code for. The more outputs, the less often inputs are read again; the
/// fewer, the more blocks there are for the multiprocessors.
constexpr WarpgroupBlock warpgroup_blocks[] = {{4, 64},  {8, 64},   {12, 64},
                                               {8, 128}, {12, 128}, {8, 256}};

/// Where things are in the shared memory of a block of warpgroup_product, which has `Tiles` tiles
/// of 16 outputs of `Tokens` tokens: groups of four warps, and each warp a tile of all tokens. A
/// stage is 32 inputs, two steps.
///   ring    [stages] of: weights [Tiles, 2 steps, 32 lanes] of 16 bytes, and inputs
///           [Tokens / 8, 4, 8 tokens] of 16 bytes: core matrices of 8 tokens by 8 inputs
///   total   [Tiles, Tokens / 2, 32 lanes] float32: the segments added so far, each by the thread
///           that has its sums
template <unsigned Tiles, unsigned Tokens>
struct WarpgroupLayout {
  static_assert(Tiles % 4 == 0 && (Tokens == 64 || Tokens == 128 || Tokens == 256));
  static constexpr unsigned tokens = Tokens;
  static constexpr unsigned tiles = Tiles;
  static constexpr unsigned warps = tiles;
  static constexpr unsigned groups = warps / 4;
  static constexpr unsigned threads = warps * 32;
  static constexpr unsigned stage_inputs = 2 * step_inputs;
  static constexpr unsigned segment_stages = segment_inputs / stage_inputs;
  static constexpr unsigned tile_vectors = 2 * 32;
  static constexpr unsigned weight_vectors = tiles * tile_vectors;
  static constexpr unsigned row_vectors = stage_inputs / 8;
  static constexpr unsigned stage_vectors = weight_vectors + Tokens * row_vectors;
  /// Bytes from the core matrices of 8 tokens to those of the next 8.
  static constexpr unsigned next_tokens = row_vectors * 8 * 16;
  static constexpr unsigned sums = Tokens / 2;  ///< that a thread has
  static constexpr std::size_t total_bytes =
      std::size_t{tiles} * tile_outputs * Tokens * sizeof(float);
  /// Blocks that share a multiprocessor: one adds a segment while the other multiplies. For larger
  /// ones there is too little shared memory, or too few registers.
  static constexpr unsigned blocks_together = Tiles > 8 || Tokens > 128 ? 1 : 2;
  /// What its part of a multiprocessor's 228 KiB leaves for it beside its sums; 1 KiB is reserved.
  static constexpr std::size_t ring_room =
      (std::size_t{228} / blocks_together - 1) * 1024 - total_bytes;
  static constexpr unsigned most_stages = Tiles == 4 ? 12 : 6;
  static constexpr unsigned stages_with_room =
      static_cast<unsigned>(ring_room / (std::size_t{stage_vectors} * 16));
  static constexpr unsigned stages =
      stages_with_room < most_stages ? stages_with_room : most_stages;
  static constexpr std::size_t ring_bytes = std::size_t{stages} * stage_vectors * 16;
  static constexpr std::size_t shared_bytes = ring_bytes + total_bytes;

  /// The inputs that a thread copies: 16 bytes, `piece`, of the token, and of every token
  /// rows_at_once further on that the block has. Eight neighbouring lanes write a core matrix, and
  /// all lanes of a warp read 64 bytes of eight rows.
  static constexpr unsigned rows_at_once = threads / row_vectors;
  TEMPERA_HOST_DEVICE static constexpr unsigned piece_of(unsigned thread) {
    return thread / 8 % row_vectors;
  }
  TEMPERA_HOST_DEVICE static constexpr unsigned token_of(unsigned thread) {
    return thread / 32 * 8 + thread % 8;
  }
  /// Where in a stage's inputs the 16 bytes `piece` of a token are.
  TEMPERA_HOST_DEVICE static constexpr unsigned input_place(unsigned token, unsigned piece) {
    return (token / 8 * row_vectors + piece) * 8 + token % 8;
  }
  /// Where in `total` sum number i of a lane is. Lanes take turns, so that the 16 outputs of a
  /// token, and of the tile after it, are in different banks.
  TEMPERA_HOST_DEVICE static constexpr unsigned sum_place(unsigned warp, unsigned i,
                                                          unsigned lane) {
    const unsigned turn = i / 2 % 2 + (warp ^ (warp / 2)) % 2 * 2;
    return (warp * sums + i) * 32 + (lane ^ turn);
  }
  /// The same by a tile of the block's 8, an output of its 16, and a token.
  TEMPERA_HOST_DEVICE static constexpr unsigned result_place(unsigned tile, unsigned output,
                                                             unsigned token) {
    return sum_place(tile, token / 8 * 4 + output / 8 * 2 + token % 2,
                     output % 8 * 4 + token % 8 / 2);
  }
};

/// take(WarpgroupLayout<tiles, tokens>()) for a block of warpgroup_blocks.
template <class Take>
auto with_layout(const WarpgroupBlock& block, const Take& take) {
  switch (block.tiles) {
    case 4:
      return take(WarpgroupLayout<4, 64>());
    case 8:
      return block.tokens == 64    ? take(WarpgroupLayout<8, 64>())
             : block.tokens == 128 ? take(WarpgroupLayout<8, 128>())
                                   : take(WarpgroupLayout<8, 256>());
    default:
      return block.tokens == 64 ? take(WarpgroupLayout<12, 64>())
                                : take(WarpgroupLayout<12, 128>());
  }
}

}  // namespace tempera::gpu
