#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu {

/// Tokens in a page of the cache: a constant of the cache and of the arithmetic (attention rescales
/// its sums page by page), and no property of any processor. Token t of a record is in slot
/// t % page_tokens of its page t / page_tokens, whatever batch computed it.
constexpr std::size_t page_tokens = 16;

/// The pages of all caches of one transformer: [pages, page_bytes], in device memory.
struct PageMemory {
  std::byte* bytes;
  std::size_t page_bytes;  // a multiple of 4
};

/// The same part of every page, as far as a kernel need know of how an architecture lays out its
/// pages: that of page p begins at memory.bytes + p · memory.page_bytes + begin.
struct PagePart {
  PageMemory memory;
  std::size_t begin;  // in bytes
};

inline namespace TEMPERA_INSTRUCTION_SET {

/// Where the part of page `page` begins, of elements as the arithmetic stores them: float, or the
/// bits of bfloat16s.
template <class Stored>
TEMPERA_HOST_DEVICE inline Stored* part_of_page(const PagePart& part, std::size_t page) {
  return reinterpret_cast<Stored*>(part.memory.bytes + page * part.memory.page_bytes + part.begin);
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
