#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu {

/// Steps of 16 inputs that one chain of the tensor core takes before its sum joins the result: the
/// segments of 512 of docs/arithmetic.md.
constexpr unsigned segment_steps = 32;
constexpr unsigned step_inputs = 16;
constexpr unsigned segment_inputs = segment_steps * step_inputs;
constexpr unsigned tile_outputs = 16;

/// Segments of a result that a thread asks the scratch memory for before it adds the first of them.
constexpr unsigned segments_together = 8;

constexpr unsigned product_warps = 8;
constexpr unsigned product_threads = product_warps * 32;

/// Rows that a product can normalise itself: one for each warp. Their sums of squares cost every
/// block one more reading of its inputs, which beyond so few is dearer than a kernel of its own.
constexpr unsigned largest_normed_rows = product_warps;
/// Whether a product may normalise its inputs: few rows, each aligned to 16 bytes.
constexpr bool normalizes_inputs(std::size_t rows, std::size_t in) {
  return rows <= largest_normed_rows && in % 8 == 0;
}

/// Who adds the segments of a result. It changes no bit.
enum class Adding : unsigned {
  own_block,    ///< the block that has all of them, since the inputs are not cut
  last_block,   ///< of the blocks that have parts of a range and chunk, the one that ends last
  next_kernel,  ///< add_segments, by the whole device
};

/// Which kernel a product is. It changes no bit.
enum class ProductForm : unsigned {
  chunks,      ///< product: chunks of at most 32 tokens
  tiles,       ///< many_rows_product: tiles of 128 tokens
  warpgroups,  ///< warpgroup_product: 64, 128 or 256 tokens, by the steps that Hopper alone has
};

/// Blocks of the product that share a multiprocessor, if its shared memory has room for them.
constexpr unsigned product_blocks_together = 2;

/// Where things are in the shared memory of a block of the product, for 8 · TokenTiles tokens. Of
/// a chunk of 8, only the tokens that there are (`staged`) have room; lanes that would read another
/// read a row of zeros.
///   ring    [warps, ring stages, 4 fragments, 32 lanes] of 16 bytes: the weights on their way, two
///           fragments' room for a pair of steps that is packed
///   inputs  [window, staged, input_pitch] bfloat16, and a row of zeros if 8 tokens are a chunk
///   factors [8] float32, of the rows that are normalised, if there are 8 tokens
///   total   [job units, unit tiles, staged, sum_pitch] float32: the segments added so far
///   slots   [window] times the same: the segments of a window of several, not yet added
template <unsigned TokenTiles>
struct ProductLayout {
  static constexpr unsigned tokens = 8 * TokenTiles;
  static constexpr unsigned stage_fragments = 4;
  TEMPERA_HOST_DEVICE static constexpr std::size_t ring_bytes(unsigned stages) {
    return std::size_t{product_warps} * stages * stage_fragments * 32 * 16;
  }
  /// 4 words off a multiple of 32, so that the eight rows that load_matrices reads are in eight
  /// different groups of banks.
  static constexpr unsigned input_pitch = segment_inputs + 8;
  /// So that the four lanes t of an accumulator's row are in different groups of banks.
  static constexpr unsigned sum_pitch = tile_outputs + 4;
  static constexpr bool has_zero_row = TokenTiles == 1;

  /// Tokens of a chunk that have room.
  TEMPERA_HOST_DEVICE static constexpr unsigned staged(unsigned rows) {
    return has_zero_row && rows < tokens ? rows : tokens;
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t inputs_bytes(unsigned window, unsigned rows) {
    const std::size_t input_rows = std::size_t{window} * staged(rows) + (has_zero_row ? 1 : 0);
    return input_rows * input_pitch * 2;
  }
  static constexpr std::size_t factor_bytes =
      tokens <= largest_normed_rows ? largest_normed_rows * sizeof(float) : 0;
  TEMPERA_HOST_DEVICE static constexpr std::size_t sum_floats(unsigned tiles, unsigned rows) {
    return std::size_t{tiles} * staged(rows) * sum_pitch;
  }
  /// The shared memory of a job of so many tiles. It holds no sums if other blocks add them.
  static constexpr std::size_t shared_bytes(unsigned stages, unsigned window, unsigned rows,
                                            unsigned tiles, Adding adding) {
    const std::size_t sums = window == 1 ? 1 : window + 1;
    constexpr std::size_t last_block_flag = 16;
    const std::size_t added = adding == Adding::own_block
                                  ? sums * sum_floats(tiles, rows) * sizeof(float)
                              : adding == Adding::last_block ? last_block_flag
                                                             : 0;
    return ring_bytes(stages) + inputs_bytes(window, rows) + factor_bytes + added;
  }
};

/// Where things are in the shared memory of a block of many_rows_product, which has 128 outputs of
/// 128 tokens. A stage is 32 inputs of them, two steps. Four warps have 64 outputs of 64 tokens
/// each.
///   ring    [3 stages] of: weights [8 tiles, 2 steps, 32 lanes] of 16 bytes, and
///           inputs [128 tokens, 4] of 16 bytes
///   total   [4 warps, 4 tiles, 8 tokens' tiles, 4, 32 lanes] float32: the segments added so far,
///           each by the thread that has its sums
/// Two such blocks fit a multiprocessor that has 227 KiB.
struct ManyRowsLayout {
  static constexpr unsigned token_tiles = 16;  ///< of 8 tokens
  static constexpr unsigned tokens = 8 * token_tiles;
  static constexpr unsigned tiles = 8;  ///< of 16 outputs
  static constexpr unsigned warp_tiles = 4;
  static constexpr unsigned warp_token_tiles = 8;
  static constexpr unsigned warps = tiles / warp_tiles * (token_tiles / warp_token_tiles);
  static constexpr unsigned threads = warps * 32;
  static constexpr unsigned stages = 3;
  static constexpr unsigned stage_inputs = 2 * step_inputs;
  static constexpr unsigned segment_stages = segment_inputs / stage_inputs;
  static constexpr unsigned tile_vectors = 2 * 32;
  static constexpr unsigned weight_vectors = tiles * tile_vectors;
  static constexpr unsigned row_vectors = stage_inputs / 8;
  static constexpr unsigned stage_vectors = weight_vectors + tokens * row_vectors;
  static constexpr std::size_t ring_bytes = std::size_t{stages} * stage_vectors * 16;
  static constexpr std::size_t total_bytes =
      std::size_t{tiles} * tile_outputs * tokens * sizeof(float);
  static constexpr std::size_t shared_bytes = ring_bytes + total_bytes;

  /// The inputs that a thread copies: 16 bytes, `piece`, of the token, and of every token
  /// rows_at_once further on.
  static constexpr unsigned rows_at_once = threads / row_vectors;
  TEMPERA_HOST_DEVICE static constexpr unsigned piece_of(unsigned thread) {
    return thread % row_vectors;
  }
  TEMPERA_HOST_DEVICE static constexpr unsigned token_of(unsigned thread) {
    return thread / row_vectors;
  }
  /// Where in a stage's inputs the 16 bytes `piece` of a token are. Pieces take turns, so that
  /// those of eight neighbouring tokens are in eight different groups of banks.
  TEMPERA_HOST_DEVICE static constexpr unsigned input_place(unsigned token, unsigned piece) {
    return token * row_vectors + (piece ^ (token / 2 % row_vectors));
  }
  /// Where in `total` number i of the sums is that a lane has of a tile of outputs and eight
  /// tokens. Lanes take turns, so that the 16 outputs of a token, and of the tile after it, are in
  /// different banks.
  TEMPERA_HOST_DEVICE static constexpr unsigned sum_place(unsigned warp, unsigned tile,
                                                          unsigned tokens_tile, unsigned i,
                                                          unsigned lane) {
    const unsigned turn = i / 2 + (tile ^ (tile / 2)) % 2 * 2;
    const unsigned of_warp = (tile * warp_token_tiles + tokens_tile) * 4 + i;
    return (warp * (warp_tiles * warp_token_tiles * 4) + of_warp) * 32 + (lane ^ turn);
  }
  /// The same by a tile of the block's 8, an output of its 16, and a token of the block's 128.
  TEMPERA_HOST_DEVICE static constexpr unsigned result_place(unsigned tile, unsigned output,
                                                             unsigned token) {
    const unsigned warp = tile / warp_tiles + token / (8 * warp_token_tiles) * (tiles / warp_tiles);
    return sum_place(warp, tile % warp_tiles, token / 8 % warp_token_tiles,
                     output / 8 * 2 + token % 2, output % 8 * 4 + token % 8 / 2);
  }
};

/// Whether many_rows_product can take so many inputs: whole stages of them.
constexpr bool fills_stages(std::size_t in) { return in % ManyRowsLayout::stage_inputs == 0; }

}  // namespace tempera::gpu
