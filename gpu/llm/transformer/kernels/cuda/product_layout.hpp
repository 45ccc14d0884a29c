#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu {

/// Steps of 16 inputs that one chain of the tensor core takes before its sum joins the result: the
/// segments of 512 of docs/reference/arithmetic.md.
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

}  // namespace tempera::gpu
