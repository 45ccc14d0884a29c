#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/llm/transformer/cache/shared_splits.hpp"
#include "gpu/llm/transformer/kernels/cuda/page_of_position.cuh"

// Where attention has its operands in shared memory, and how they come there.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned split_positions = split_pages * page_tokens;
constexpr unsigned run_positions = 32;  // that one warp adds the values of
constexpr unsigned attention_threads = split_positions;
constexpr unsigned attention_warps = attention_threads / simt::warp_lanes;

/// What 16 bytes of shared memory, a chunk, hold of a head, and how its elements become floats.
template <class Elements>
struct PageChunk;

template <>
struct PageChunk<Bfloat16Elements> {
  static constexpr unsigned elements = 8;
  using Pair = std::uint32_t;
  /// Elements 4 · four … 4 · four + 3.
  TEMPERA_ON_DEVICE static void get_four(const std::uint32_t (&words)[4], unsigned four,
                                         float (&values)[4]) {
    get_pair(words[2 * four], values);
    get_pair(words[2 * four + 1], values + 2);
  }
  TEMPERA_ON_DEVICE static void get_pair(Pair pair, float* values) {
    values[0] = from_bfloat16(static_cast<std::uint16_t>(pair & 0xFFFFU));
    values[1] = from_bfloat16(static_cast<std::uint16_t>(pair >> 16));
  }
};

template <>
struct PageChunk<EightBitElements> {
  static constexpr unsigned elements = 16;
  using Pair = std::uint16_t;
  TEMPERA_ON_DEVICE static void get_four(const std::uint32_t (&words)[4], unsigned four,
                                         float (&values)[4]) {
    TEMPERA_UNROLL
    for (unsigned i = 0; i < 4; ++i) values[i] = value_of_byte(words[four], i);
  }
  TEMPERA_ON_DEVICE static void get_pair(Pair pair, float* values) {
    values[0] = value_of_byte(pair, 0);
    values[1] = value_of_byte(pair, 1);
  }

 private:
  TEMPERA_ON_DEVICE static float value_of_byte(std::uint32_t word, unsigned byte) {
    return EightBitElements::value_of_bits(simt::select_bytes(word, 0x4B000000U, 0x7650U | byte));
  }
};

/// Where things are in the shared memory of a block that has `Rows` rows. What the loops read at
/// places that are known when they are compiled is first: addresses would cost as many
/// instructions as the multiply-adds of a row.
///   p          [Rows, 256, Queries] float32
///   weights    the same, of values: p times the power of two of the value; without exponents, p
///   maxima     [warps, Rows · Queries] float32
///   arrived    [8] words, of which Rows are used
///   exponents  [16] bytes, of which two are used: of the row's own key and value; only if there
///              are any
///   queries    [chunks, Rows · Queries, elements of a chunk] float32
///   positions  [256, pitch] of 16 bytes: the keys, then the values, then the sums of the runs
/// Where a function takes `queries`, they are those of all rows.
template <class Elements>
struct AttentionLayout {
  static constexpr unsigned chunk_elements = PageChunk<Elements>::elements;

  unsigned chunks;  // of a head
  unsigned pitch;   // odd, so that eight neighbouring rows are in different banks

  TEMPERA_HOST_DEVICE static AttentionLayout of(unsigned head_dim) {
    const unsigned chunks = (head_dim + chunk_elements - 1) / chunk_elements;
    return {chunks, chunks | 1U};
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t p_bytes(unsigned queries) {
    return std::size_t{split_positions} * queries * sizeof(float);
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t weights_begin(unsigned queries) {
    return Elements::have_exponents ? p_bytes(queries) : 0;
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t maxima_begin(unsigned queries) {
    return weights_begin(queries) + p_bytes(queries);
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t arrived_begin(unsigned queries) {
    return maxima_begin(queries) + std::size_t{attention_warps} * queries * sizeof(float);
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t exponents_begin(unsigned queries) {
    return arrived_begin(queries) + 8 * sizeof(std::uint32_t);
  }
  TEMPERA_HOST_DEVICE static constexpr std::size_t queries_begin(unsigned queries) {
    return exponents_begin(queries) + (Elements::have_exponents ? 16 : 0);
  }
  TEMPERA_HOST_DEVICE std::size_t positions_begin(unsigned queries) const {
    return queries_begin(queries) + std::size_t{queries} * chunks * chunk_elements * sizeof(float);
  }
  TEMPERA_HOST_DEVICE std::size_t bytes(unsigned queries) const {
    return positions_begin(queries) + std::size_t{split_positions} * pitch * 16;
  }
};

constexpr unsigned pages_asked_together = 8;

/// Whether bring_whole_split can bring heads of so many chunks: each thread copies eight of them or
/// sixteen, a page or two apart.
TEMPERA_ON_DEVICE inline bool has_one_place_in_pages(unsigned chunks) {
  return chunks == 8 || chunks == 16;
}

/// Asks for what bring_positions brings, of a split that has all its positions. Those of a thread
/// have one place in their pages, so an address is one multiplication; and no copy depends on a
/// condition, for the assembler moves the loads of page numbers after conditions, where each copy
/// waits for its own.
template <class Elements>
TEMPERA_ON_DEVICE inline void bring_whole_split(const PagePart& part, const std::uint32_t* pages,
                                                unsigned head, unsigned size, unsigned first,
                                                const AttentionLayout<Elements>& layout,
                                                simt::Vector16* shared) {
  // Instead of divisions, which a block would wait for.
  const bool has_sixteen = layout.chunks == 16;
  const unsigned own = simt::thread() / (has_sixteen ? 16U : 8U);
  const unsigned chunk = simt::thread() - own * layout.chunks;
  const unsigned rows_together = has_sixteen ? attention_threads / 16 : attention_threads / 8;
  const unsigned next_page = rows_together / page_tokens;
  constexpr auto element_bytes = static_cast<std::uint32_t>(sizeof(typename Elements::Stored));
  const std::uint32_t in_page =
      head * static_cast<std::uint32_t>(Elements::head_bytes(size)) +
      static_cast<std::uint32_t>(own % page_tokens) * size * element_bytes +
      chunk * static_cast<std::uint32_t>(sizeof(simt::Vector16));
  const std::byte* const place = part.first + in_page;
  const auto stride = static_cast<std::uint32_t>(part.stride);
  const std::uint32_t* numbers = pages + (first + own) / page_tokens;
  simt::Vector16* target = shared + own * layout.pitch + chunk;
  TEMPERA_NO_UNROLL
  for (unsigned round = 0; round < layout.chunks / pages_asked_together; ++round) {
    std::uint32_t page[pages_asked_together];
    TEMPERA_UNROLL
    for (unsigned i = 0; i < pages_asked_together; ++i) page[i] = numbers[i * next_page];
    TEMPERA_UNROLL
    for (unsigned i = 0; i < pages_asked_together; ++i) {
      simt::copy_async(target, place + std::uint64_t{page[i]} * stride);
      target += rows_together * layout.pitch;
    }
    numbers += pages_asked_together * next_page;
  }
}

/// Asks for what bring_positions brings, of heads whose rows of 16 bytes share the block's threads
/// out evenly. A copy needs the number of its page: a thread asks for eight of them, and then for
/// their copies.
template <class Elements>
TEMPERA_ON_DEVICE inline void bring_whole_rows(const PagePart& part, const std::uint32_t* pages,
                                               unsigned head, unsigned size, unsigned first,
                                               unsigned count,
                                               const AttentionLayout<Elements>& layout,
                                               simt::Vector16* shared) {
  constexpr unsigned asked_together = pages_asked_together;
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
      simt::copy_async(shared + s * layout.pitch + chunk,
                       slot_of_position<Elements>(part, page[i], head, first + s, size) +
                           chunk * AttentionLayout<Elements>::chunk_elements);
    }
  }
}

/// Starts to bring the positions first … first + count − 1 of one head into shared memory, one row
/// each; elements after the head are zeros. pages: the record's page table.
template <class Elements>
TEMPERA_ON_DEVICE inline void bring_positions(const PagePart& part, const std::uint32_t* pages,
                                              unsigned head, unsigned size, unsigned first,
                                              unsigned count,
                                              const AttentionLayout<Elements>& layout,
                                              simt::Vector16* shared) {
  constexpr unsigned chunk_elements = AttentionLayout<Elements>::chunk_elements;
  using Stored = typename Elements::Stored;
  if (size % chunk_elements == 0 && attention_threads % layout.chunks == 0) {
    if (count == split_positions && has_one_place_in_pages(layout.chunks)) {
      bring_whole_split(part, pages, head, size, first, layout, shared);
    } else {
      bring_whole_rows(part, pages, head, size, first, count, layout, shared);
    }
    simt::commit_copies();
    return;
  }
  for (unsigned p = simt::thread(); p < count * layout.chunks; p += attention_threads) {
    const unsigned s = p / layout.chunks;
    const unsigned chunk = p % layout.chunks;
    const Stored* const source =
        slot_of_position<Elements>(part, pages[(first + s) / page_tokens], head, first + s, size) +
        chunk * chunk_elements;
    simt::Vector16* const target = shared + s * layout.pitch + chunk;
    if (size % chunk_elements == 0) {
      simt::copy_async(target, source);
      continue;
    }
    auto* const elements = reinterpret_cast<Stored*>(target);
    for (unsigned i = 0; i < chunk_elements; ++i) {
      elements[i] = chunk * chunk_elements + i < size ? source[i] : Elements::zero;
    }
  }
  simt::commit_copies();
}

/// One head of a row's own token in the shared memory of the block, where bring_positions would
/// have brought it, and in its page if `kept`.
template <class Stored>
struct OwnSlot {
  Stored* shared;
  Stored* page;
  bool kept;
  TEMPERA_ON_DEVICE void operator()(unsigned d, Stored element) const {
    shared[d] = element;
    if (kept) page[d] = element;
  }
};

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

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
