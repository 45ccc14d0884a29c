#pragma once

#include <cmath>

#include "gpu/llm/transformer/kernels/cuda/page_of_position.cuh"
#include "gpu/llm/transformer/kernels/cuda/turned_head.cuh"
#include "gpu/llm/transformer/kernels/cuda/whole_row.cuh"
#include "gpu/llm/transformer/weights/weight_reader.hpp"

// The steps of `integer` that go over one row each, or over one head of a row. One source includes
// this file.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned whole_row_threads = 256;
using WholeRowThreads = BlockOfRow<whole_row_threads>;
constexpr std::size_t whole_row_bytes = WholeRowThreads::room_words * sizeof(std::uint64_t);

/// states[row] = the embedding of the row's token, as it is stored. Grid: rows.
template <class Weights>
TEMPERA_KERNEL(whole_row_threads)
embed_stored_rows(const Weights embedding, const TokenRows batch, unsigned size, float* states) {
  const unsigned row = simt::block().x;
  const unsigned token = batch.tokens[row];
  for (unsigned i = simt::thread(); i < size; i += whole_row_threads) {
    states[std::size_t{row} * size + i] = embedding(token, i);
  }
}

/// target = weight · (x · factor), by the whole block.
TEMPERA_ON_DEVICE inline void normalize_whole_by_block(const float* x, const float* weight,
                                                       unsigned size, float epsilon,
                                                       float* target) {
  const WholeRowThreads threads{simt::shared_memory<std::uint64_t>()};
  const float factor = whole_norm_factor(threads, x, size, epsilon);
  for (unsigned i = simt::thread(); i < size; i += whole_row_threads) {
    target[i] = weight[i] * (x[i] * factor);
  }
}

/// Grid: rows. Shared memory: whole_row_bytes. normed: [rows, size].
TEMPERA_KERNEL(whole_row_threads)
normalize_whole_rows(const float* states, const float* weight, unsigned size, float epsilon,
                     float* normed) {
  const std::size_t begin = std::size_t{simt::block().x} * size;
  normalize_whole_by_block(states + begin, weight, size, epsilon, normed + begin);
}

/// The same into the slots of the rows' tokens. target: [page_tokens, size].
TEMPERA_KERNEL(whole_row_threads)
normalize_whole_into_slots(const float* states, const float* weight, const TokenRows batch,
                           unsigned size, float epsilon, const PagePart target) {
  const unsigned row = simt::block().x;
  const unsigned position = batch.positions[row];
  float* const page = part_of_page<float>(target, page_of_position(batch, row, position));
  normalize_whole_by_block(states + std::size_t{row} * size, weight, size, epsilon,
                           page + std::size_t{position % page_tokens} * size);
}

/// gathered[row] = what the page holds of the row's token. Grid: rows.
TEMPERA_KERNEL(whole_row_threads)
gather_float_slots(const CachedRows batch, unsigned size, const PagePart source, float* gathered) {
  const unsigned row = simt::block().x;
  const float* const from =
      part_of_page<float>(source, batch.pages[row]) + std::size_t{batch.slots[row]} * size;
  float* const to = gathered + std::size_t{row} * size;
  for (unsigned i = simt::thread(); i < size; i += whole_row_threads) to[i] = from[i];
}

/// Where the pages of one layer hold a head as SixteenBitElements: its elements, in pairs, and then
/// the exponents of its tokens.
TEMPERA_ON_DEVICE inline std::int16_t* whole_head(const PagePart& part, std::size_t page,
                                                  unsigned head, unsigned size) {
  return part_of_page<std::int16_t>(part, page) +
         head * (SixteenBitElements::head_bytes(size) / sizeof(std::int16_t));
}
TEMPERA_ON_DEVICE inline std::int32_t* exponents_of_head(std::int16_t* head, unsigned size) {
  return reinterpret_cast<std::int32_t*>(head + page_tokens * size);
}

constexpr unsigned whole_head_warps = 8;

/// Normalises every query and key head, unless its norm is null, and rotates it, or its first
/// rotary_dim elements, by its row's position, in place; keys and values go as whole numbers into
/// the row's slot of its page, keys [size / 2, page_tokens, 2], values [page_tokens / 2, size, 2].
/// One warp a head: its queries' first, then its keys', then its values'. Grid: (heads of a row / 8
/// rounded up, rows). query_key_value: [rows, shape.row_floats].
TEMPERA_KERNEL(whole_head_warps * 32)
rotate_whole_heads(const AttentionShape shape, const HeadRotation rotation, const TokenRows batch,
                   const PagePart keys, const PagePart values, float* query_key_value) {
  const auto heads = static_cast<unsigned>(shape.heads);
  const auto key_heads = static_cast<unsigned>(shape.key_value_heads);
  const auto size = static_cast<unsigned>(shape.head_dim);
  const unsigned row = simt::block().y;
  const unsigned head = simt::block().x * whole_head_warps + simt::warp();
  if (head >= heads + 2 * key_heads) return;
  const unsigned position = batch.positions[row];
  const bool is_query = head < heads;
  const bool is_value = head >= heads + key_heads;
  const unsigned key_head = is_query ? 0 : is_value ? head - heads - key_heads : head - heads;
  float* const vector =
      query_key_value + std::size_t{row} * shape.row_floats +
      (is_query ? head * size : (is_value ? shape.value_begin : shape.key_begin) + key_head * size);
  if (!is_value) {
    const float* const norm = is_query ? rotation.query_norm : rotation.key_norm;
    const float factor =
        norm == nullptr ? 1.0f : whole_norm_factor(LanesOfRow(), vector, size, rotation.epsilon);
    const unsigned half = rotary_half(shape);
    TEMPERA_NO_UNROLL
    for (unsigned d = simt::lane(); d < half; d += simt::warp_lanes) {
      float low = vector[d];
      float high = vector[d + half];
      if (norm != nullptr) {
        low = norm[d] * (low * factor);
        high = norm[d + half] * (high * factor);
      }
      const float cosine = rotation.tables.cosines[std::size_t{position} * half + d];
      const float sine = rotation.tables.sines[std::size_t{position} * half + d];
      vector[d] = fused_multiply_add(low, cosine, -(high * sine));
      vector[d + half] = fused_multiply_add(high, cosine, low * sine);
    }
    if (norm != nullptr) {
      TEMPERA_NO_UNROLL
      for (unsigned d = 2 * half + simt::lane(); d < size; d += simt::warp_lanes) {
        vector[d] = norm[d] * (vector[d] * factor);
      }
    }
    simt::warp_barrier();  // another lane may read what this one has written
  }
  if (is_query) return;

  // By members: a choice between two parameters would put both into local memory.
  const PagePart part{is_value ? values.first : keys.first, is_value ? values.stride : keys.stride};
  std::int16_t* const target =
      whole_head(part, page_of_position(batch, row, position), key_head, size);
  const auto slot = static_cast<unsigned>(position % page_tokens);
  const WholeRow whole =
      whole_row_by(LanesOfRow(), vector, size, is_value ? any_squares : weight_squares);
  TEMPERA_NO_UNROLL
  for (unsigned d = simt::lane(); d < size; d += simt::warp_lanes) {
    const unsigned place = is_value
                               ? (slot / 2 * size + d) * 2 + slot % 2
                               : (d / 2 * static_cast<unsigned>(page_tokens) + slot) * 2 + d % 2;
    target[place] = static_cast<std::int16_t>(number_of_row(whole, vector[d]));
  }
  if (simt::lane() == 0) {
    exponents_of_head(target, size)[slot] = !whole.fits          ? SixteenBitElements::unfit
                                            : whole.squares == 0 ? SixteenBitElements::of_zeros
                                                                 : whole.exponent;
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
