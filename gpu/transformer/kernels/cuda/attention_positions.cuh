#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/tensor_core.hpp"
#include "gpu/transformer/cache/shared_splits.hpp"
#include "gpu/transformer/kernels/cuda/page_of_position.cuh"

// Where attention has its operands in shared memory, and how they come there.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned split_positions = split_pages * page_tokens;
constexpr unsigned run_positions = 32;  // that one warp adds the values of
constexpr unsigned attention_threads = split_positions;
constexpr unsigned attention_warps = attention_threads / simt::warp_lanes;

/// Where things are in the shared memory of a block that has `Rows` rows. What the loops read at
/// places that are known when they are compiled is first: addresses would cost as many
/// instructions as the multiply-adds of a row.
///   p          [Rows, 256, Queries] float32
///   maxima     [warps, Rows · Queries] float32
///   arrived    [8] words, of which Rows are used
///   queries    [chunks, Rows · Queries, 8] float32
///   positions  [256, pitch] of 16 bytes: the keys, then the values, then the sums of the runs
/// Where a function takes `queries`, they are those of all rows.
struct AttentionLayout {
  unsigned chunks;  // of 8 elements in a head
  unsigned pitch;   // odd, so that eight neighbouring rows are in different banks

  TEMPERA_HOST_DEVICE static AttentionLayout of(unsigned head_dim) {
    const unsigned chunks = (head_dim + 7) / 8;
    return {chunks, chunks | 1U};
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t maxima_begin(unsigned queries) {
    return std::size_t{split_positions} * queries * sizeof(float);
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t arrived_begin(unsigned queries) {
    return maxima_begin(queries) + std::size_t{attention_warps} * queries * sizeof(float);
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t queries_begin(unsigned queries) {
    return arrived_begin(queries) + 8 * sizeof(std::uint32_t);
  }
  TEMPERA_HOST_DEVICE std::size_t positions_begin(unsigned queries) const {
    return queries_begin(queries) + std::size_t{queries} * chunks * 8 * sizeof(float);
  }
  TEMPERA_HOST_DEVICE std::size_t bytes(unsigned queries) const {
    return positions_begin(queries) + std::size_t{split_positions} * pitch * 16;
  }
};

/// Asks for what bring_positions brings, of heads whose rows of 16 bytes share the block's threads
/// out evenly. A copy needs the number of its page: a thread asks for eight of them, and then for
/// their copies.
TEMPERA_ON_DEVICE inline void bring_whole_rows(const PagePart& part, const std::uint32_t* pages,
                                               unsigned head, unsigned size, unsigned first,
                                               unsigned count, const AttentionLayout& layout,
                                               simt::Vector16* shared) {
  constexpr unsigned asked_together = 8;
  const unsigned chunk = simt::thread() % layout.chunks;
  const unsigned rows_together = attention_threads / layout.chunks;
  for (unsigned begin = simt::thread() / layout.chunks; begin < count;
       begin += asked_together * rows_together) {
    std::uint32_t page[asked_together];
    TEMPERA_UNROLL
    for (unsigned i = 0; i < asked_together; ++i) {
      const unsigned s = begin + i * rows_together;
      page[i] = pages[(first + (s < count ? s : begin)) / page_tokens];
    }
    TEMPERA_UNROLL
    for (unsigned i = 0; i < asked_together; ++i) {
      const unsigned s = begin + i * rows_together;
      if (s >= count) break;
      const std::uint16_t* const source = part_of_page<std::uint16_t>(part, page[i]) +
                                          (head * page_tokens + (first + s) % page_tokens) * size +
                                          chunk * 8;
      simt::copy_async(shared + s * layout.pitch + chunk, source);
    }
  }
}

/// Starts to bring the positions first … first + count − 1 of one head into shared memory, one row
/// each; elements after the head are zeros. pages: the record's page table.
TEMPERA_ON_DEVICE inline void bring_positions(const PagePart& part, const std::uint32_t* pages,
                                              unsigned head, unsigned size, unsigned first,
                                              unsigned count, const AttentionLayout& layout,
                                              simt::Vector16* shared) {
  if (size % 8 == 0 && attention_threads % layout.chunks == 0) {
    bring_whole_rows(part, pages, head, size, first, count, layout, shared);
    simt::commit_copies();
    return;
  }
  for (unsigned p = simt::thread(); p < count * layout.chunks; p += attention_threads) {
    const unsigned s = p / layout.chunks;
    const unsigned chunk = p % layout.chunks;
    const std::uint16_t* const source =
        part_of_page<std::uint16_t>(part, pages[(first + s) / page_tokens]) +
        (std::size_t{head} * page_tokens + (first + s) % page_tokens) * size + chunk * 8;
    simt::Vector16* const target = shared + s * layout.pitch + chunk;
    if (size % 8 == 0) {
      simt::copy_async(target, source);
      continue;
    }
    auto* const elements = reinterpret_cast<std::uint16_t*>(target);
    for (unsigned i = 0; i < 8; ++i) {
      elements[i] = chunk * 8 + i < size ? source[i] : std::uint16_t{0};
    }
  }
  simt::commit_copies();
}

/// `Count` neighbouring numbers of shared memory, by 16 bytes if Count is a multiple of four.
/// @pre `from` is then aligned to 16 bytes
template <unsigned Count>
TEMPERA_ON_DEVICE inline void load_neighbours(const float* from, float (&numbers)[Count]) {
  if constexpr (Count % 4 == 0) {
    TEMPERA_UNROLL
    for (unsigned i = 0; i < Count; i += 4) {
      const auto four = *reinterpret_cast<const simt::Vector16*>(from + i);
      const std::uint32_t words[4] = {four.x, four.y, four.z, four.w};
      memcpy(numbers + i, words, sizeof words);
    }
  } else {
    TEMPERA_UNROLL
    for (unsigned i = 0; i < Count; ++i) numbers[i] = from[i];
  }
}

TEMPERA_ON_DEVICE inline float lower_bfloat16(std::uint32_t pair) {
  return from_bfloat16(static_cast<std::uint16_t>(pair & 0xFFFFU));
}
TEMPERA_ON_DEVICE inline float upper_bfloat16(std::uint32_t pair) {
  return from_bfloat16(static_cast<std::uint16_t>(pair >> 16));
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
