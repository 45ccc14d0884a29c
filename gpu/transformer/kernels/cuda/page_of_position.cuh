#pragma once

#include "gpu/device/simt/simt.hpp"
#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The page that holds a position of the record that a row belongs to.
TEMPERA_ON_DEVICE inline std::size_t page_of_position(const TokenRows& batch, unsigned row,
                                                      unsigned position) {
  return batch.page_table[batch.first_page[row] + position / page_tokens];
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
