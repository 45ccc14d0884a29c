#pragma once

#include <cstddef>

#include "gpu/device/pair_tiles.hpp"
#include "gpu/llm/transformer/weights/matrix_view.hpp"

// How the matrix products of `float32` are cut. Nothing here changes a bit: every output keeps its
// own order of summation.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Rows and blocks whose sums stay in registers: 28 of AVX-512's 32, 12 and 8 of the others' 16.
/// An input is loaded once for all blocks and a weight once for all rows, so that tiles that are
/// about square need the fewest loads.
constexpr std::size_t float32_tile_rows = register_lanes == 16 ? 14 : register_lanes == 8 ? 6 : 2;
constexpr std::size_t tile_blocks = register_lanes == 16 ? 2 : 1;

/// Rows that share weights that were made floats, or tiles.
constexpr std::size_t item_rows = sums_in_tiles ? 512 : 64;
/// Blocks of outputs of an item. Of few rows four go side by side; of many, two, so that threads
/// end at about the same time.
constexpr std::size_t most_item_blocks = 4;
constexpr std::size_t most_item_outputs = most_item_blocks * lanes;
constexpr std::size_t few_rows = 8;

/// What one item computes: some rows of some outputs.
struct ProductItem {
  std::size_t first_row;
  std::size_t rows;
  std::size_t first_output;
  std::size_t outputs;

  std::size_t blocks() const { return (outputs + lanes - 1) / lanes; }
};

/// The products of a matrix as items. Rows are innermost, so that neighbours read the same weights;
/// of tiles outputs are, so that an item's inputs stay in the second-level cache: tiles compute so
/// fast that inputs from further away would bound them.
struct Float32Tiling {
  std::size_t rows;
  std::size_t in;
  std::size_t out;

  std::size_t row_parts() const { return (rows + item_rows - 1) / item_rows; }
  std::size_t item_outputs() const { return (rows <= few_rows ? most_item_blocks : 2) * lanes; }
  std::size_t output_parts() const { return (out + item_outputs() - 1) / item_outputs(); }
  std::size_t items() const { return row_parts() * output_parts(); }
  ProductItem item(std::size_t index) const {
    const std::size_t part = sums_in_tiles ? index / output_parts() : index % row_parts();
    const std::size_t row = part * item_rows;
    const std::size_t output =
        (sums_in_tiles ? index % output_parts() : index / row_parts()) * item_outputs();
    return {row, rows - row < item_rows ? rows - row : item_rows, output,
            out - output < item_outputs() ? out - output : item_outputs()};
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
