#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/cache/page_elements.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The page that holds a position of the record that a row belongs to.
TEMPERA_ON_DEVICE inline std::size_t page_of_position(const TokenRows& batch, unsigned row,
                                                      unsigned position) {
  return batch.page_table[batch.first_page[row] + position / page_tokens];
}

/// Where the pages of one layer hold a head of the token at a position: [size] elements.
template <class Elements>
TEMPERA_ON_DEVICE inline typename Elements::Stored* slot_of_position(
    const PagePart& part, std::size_t page, unsigned head, unsigned position, unsigned size) {
  using Stored = typename Elements::Stored;
  return part_of_page<Stored>(part, page) + head * (Elements::head_bytes(size) / sizeof(Stored)) +
         position % page_tokens * size;
}

/// Where they hold the exponent of that head.
template <class Elements>
TEMPERA_ON_DEVICE inline std::uint8_t* exponent_of_position(const PagePart& part, std::size_t page,
                                                            unsigned head, unsigned position,
                                                            unsigned size) {
  return part_of_page<std::uint8_t>(part, page) + head * Elements::head_bytes(size) +
         page_tokens * size + position % page_tokens;
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
