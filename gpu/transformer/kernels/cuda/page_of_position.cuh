#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The page that holds a position of the record that a row belongs to.
TEMPERA_ON_DEVICE inline std::size_t page_of_position(const TokenRows& batch, unsigned row,
                                                      unsigned position) {
  return batch.page_table[batch.first_page[row] + position / page_tokens];
}

/// Where the pages of one layer hold a head of the token at a position. `part` is laid out as
/// [heads, page_tokens, size], bfloat16.
TEMPERA_ON_DEVICE inline std::uint16_t* slot_of_position(const PagePart& part, std::size_t page,
                                                         unsigned head, unsigned position,
                                                         unsigned size) {
  return part_of_page<std::uint16_t>(part, page) +
         (std::size_t{head} * page_tokens + position % page_tokens) * size;
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
