#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"
#include "gpu/llm/transformer/weights/matrix_view.hpp"

// How the matrix products of `tensor-core` are cut into items.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Rows that share each read of a weight.
constexpr std::size_t tile_rows = 8;

/// What one item computes: some rows of up to 16 outputs.
struct TensorCoreItem {
  std::size_t first_row;
  std::size_t rows;
  std::size_t first_output;
  std::size_t outputs;
};

/// An item is a block of outputs of up to `ItemRows` rows; rows are innermost, so that neighbouring
/// items read the same weights.
template <std::size_t ItemRows>
struct TensorCoreTiling {
  std::size_t rows;
  std::size_t in;
  std::size_t out;

  std::size_t row_parts() const { return (rows + ItemRows - 1) / ItemRows; }
  std::size_t items() const { return row_parts() * ((out + lanes - 1) / lanes); }
  TensorCoreItem item(std::size_t index) const {
    const std::size_t row = index % row_parts() * ItemRows;
    const std::size_t output = index / row_parts() * lanes;
    return {row, rows - row < ItemRows ? rows - row : ItemRows, output,
            out - output < lanes ? out - output : lanes};
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
