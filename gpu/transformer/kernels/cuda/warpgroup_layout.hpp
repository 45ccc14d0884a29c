#pragma once

#include <cstddef>

#include "gpu/transformer/kernels/cuda/product_layout.hpp"

namespace tempera::gpu {

/// Inputs that warpgroup_product takes at least: two stages, by turns.
constexpr unsigned warpgroup_inputs = 4 * step_inputs;

/// Where things are in the shared memory of a block of warpgroup_product, which has 128 outputs of
/// `Tokens` tokens: two groups of four warps, and each warp a tile of 16 outputs of all tokens. A
/// stage is 32 inputs, two steps.
///   ring    [stages] of: weights [8 tiles, 2 steps, 32 lanes] of 16 bytes, and inputs
///           [Tokens / 8, 4, 8 tokens] of 16 bytes: core matrices of 8 tokens by 8 inputs
///   total   [8 warps, Tokens / 2, 32 lanes] float32: the segments added so far, each by the thread
///           that has its sums
template <unsigned Tokens>
struct WarpgroupLayout {
  static_assert(Tokens == 64 || Tokens == 128 || Tokens == 256);
  static constexpr unsigned tokens = Tokens;
  static constexpr unsigned tiles = 8;  ///< of 16 outputs
  static constexpr unsigned warps = tiles;
  static constexpr unsigned threads = warps * 32;
  /// Blocks that share a multiprocessor: one adds a segment while the other multiplies. The sums of
  /// 256 tokens leave room for one.
  static constexpr unsigned blocks_together = Tokens == 256 ? 1 : 2;
  static constexpr unsigned stages = Tokens == 64 ? 6 : Tokens == 128 ? 3 : 4;
  static constexpr unsigned stage_inputs = 2 * step_inputs;
  static constexpr unsigned segment_stages = segment_inputs / stage_inputs;
  static constexpr unsigned tile_vectors = 2 * 32;
  static constexpr unsigned weight_vectors = tiles * tile_vectors;
  static constexpr unsigned row_vectors = stage_inputs / 8;
  static constexpr unsigned stage_vectors = weight_vectors + Tokens * row_vectors;
  /// Bytes from the core matrices of 8 tokens to those of the next 8.
  static constexpr unsigned next_tokens = row_vectors * 8 * 16;
  static constexpr unsigned sums = Tokens / 2;  ///< that a thread has
  static constexpr std::size_t ring_bytes = std::size_t{stages} * stage_vectors * 16;
  static constexpr std::size_t total_bytes =
      std::size_t{tiles} * tile_outputs * Tokens * sizeof(float);
  static constexpr std::size_t shared_bytes = ring_bytes + total_bytes;

  /// The inputs that a thread copies: 16 bytes, `piece`, of the token, and of every token
  /// rows_at_once further on. Eight neighbouring lanes write a core matrix, and all lanes of a warp
  /// read 64 bytes of eight rows.
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

}  // namespace tempera::gpu
