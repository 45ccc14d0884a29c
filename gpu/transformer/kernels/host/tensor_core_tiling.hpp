#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"
#include "gpu/transformer/weights/matrix_view.hpp"

// How the matrix products of `tensor-core` are cut into items.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Rows that share each read of a weight.
constexpr std::size_t tile_rows = 8;

/// An item is a block of outputs of a tile of rows; the tiles lie innermost, so that neighbouring
/// items read the same weights.
struct TensorCoreTiling {
  std::size_t rows;
  std::size_t in;
  std::size_t out;

  std::size_t items() const { return row_tiles() * ((out + lanes - 1) / lanes); }
  std::size_t row_tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  std::size_t first_row(std::size_t item) const { return item % row_tiles() * tile_rows; }
  std::size_t first_output(std::size_t item) const { return item / row_tiles() * lanes; }
  /// How many of a block's outputs there are.
  std::size_t outputs_from(std::size_t first_output) const {
    return out - first_output < lanes ? out - first_output : lanes;
  }
};

/// Calls kernel.template tile<Rows>(first row, first output) for the tile of an item, Rows being
/// the number of rows that it has.
template <class Kernel, std::size_t Rows = tile_rows>
inline void run_tile(const Kernel& kernel, std::size_t item) {
  const std::size_t first_row = kernel.tiling.first_row(item);
  if constexpr (Rows > 1) {
    if (kernel.tiling.rows - first_row < Rows) return run_tile<Kernel, Rows - 1>(kernel, item);
  }
  kernel.template tile<Rows>(first_row, kernel.tiling.first_output(item));
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
