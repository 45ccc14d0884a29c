#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/cuda/page_copy.cuh"
#include "gpu/llm/transformer/kernels/cuda/page_of_position.cuh"
#include "gpu/llm/transformer/kernels/cuda/tree.cuh"
#include "gpu/llm/transformer/weights/weight_reader.hpp"

// The steps that go over one row each: a block of 256 threads per row. Kernels that are no
// templates: one source includes this file.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned row_threads = 256;

/// states[row] = the embedding of the row's token, out of the fragments of its tile.
/// Grid: rows. fragments: [vocabulary / 16, steps, 32 lanes, 4]; states: [rows, size].
TEMPERA_KERNEL(row_threads)
embed_rows(const std::uint32_t* fragments, const TokenRows batch, unsigned size, float* states) {
  const unsigned row = simt::block().x;
  const unsigned token = batch.tokens[row];
  const unsigned steps = (size + 15) / 16;
  const std::uint32_t* tile = fragments + std::size_t{token / 16} * steps * 128;
  for (unsigned i = simt::thread(); i < size; i += row_threads) {
    // Lane 4 g + t has the pairs of inputs (2 t, 2 t + 1) and those 8 further on, of outputs g and
    // g
    // + 8.
    const unsigned lane = token % 8 * 4 + i % 8 / 2;
    const unsigned word = token % 16 / 8 + i % 16 / 8 * 2;
    const std::uint32_t pair = tile[(i / 16 * 32 + lane) * 4 + word];
    states[std::size_t{row} * size + i] =
        from_bfloat16(static_cast<std::uint16_t>(i % 2 == 0 ? pair & 0xFFFFU : pair >> 16));
  }
}

/// Does what embed_rows does, with quantised weights.
TEMPERA_KERNEL(row_threads)
embed_quantised_rows(const QuantisedWeights embedding, const TokenRows batch, unsigned size,
                     float* states) {
  const unsigned row = simt::block().x;
  const unsigned token = batch.tokens[row];
  for (unsigned i = simt::thread(); i < size; i += row_threads) {
    states[std::size_t{row} * size + i] = from_bfloat16(to_bfloat16(embedding(token, i)));
  }
}

/// target = bf16(weight · (x · factor)), factor = 1 / sqrt(Σ x² / size + ε), by the whole block.
TEMPERA_ON_DEVICE inline void normalize_by_block(const float* x, const float* weight, unsigned size,
                                                 float epsilon, std::uint16_t* target) {
  auto* const partial = simt::shared_memory<float>();  // [256]
  float sum = 0;
  for (unsigned i = simt::thread(); i < size; i += row_threads) {
    sum = fused_multiply_add(x[i], x[i], sum);
  }
  partial[simt::thread()] = sum;
  simt::barrier();
  const float mean = tree_of_256(partial) / static_cast<float>(size);
  const float factor = 1.0f / sqrtf(mean + epsilon);
  for (unsigned i = simt::thread(); i < size; i += row_threads) {
    target[i] = to_bfloat16(weight[i] * (x[i] * factor));
  }
}

/// Grid: rows. Shared memory: 256 floats. normed: [rows, size], bfloat16.
TEMPERA_KERNEL(row_threads)
normalize_rows(const float* states, const float* weight, unsigned size, float epsilon,
               std::uint16_t* normed) {
  const std::size_t begin = std::size_t{simt::block().x} * size;
  normalize_by_block(states + begin, weight, size, epsilon, normed + begin);
}

/// Does what normalize_rows does, into the slots of the rows' tokens. target: [page_tokens, size],
/// bfloat16.
TEMPERA_KERNEL(row_threads)
normalize_into_slots(const float* states, const float* weight, const TokenRows batch, unsigned size,
                     float epsilon, const PagePart target) {
  const unsigned row = simt::block().x;
  const unsigned position = batch.positions[row];
  std::uint16_t* const page =
      part_of_page<std::uint16_t>(target, page_of_position(batch, row, position));
  normalize_by_block(states + std::size_t{row} * size, weight, size, epsilon,
                     page + position % page_tokens * size);
}

/// gathered[row] = what the page holds of the row's token. Grid: rows.
TEMPERA_KERNEL(row_threads)
gather_slots(const CachedRows batch, unsigned size, const PagePart source,
             std::uint16_t* gathered) {
  const unsigned row = simt::block().x;
  const std::uint16_t* const from =
      part_of_page<std::uint16_t>(source, batch.pages[row]) + std::size_t{batch.slots[row]} * size;
  std::uint16_t* const to = gathered + std::size_t{row} * size;
  for (unsigned i = simt::thread(); i < size; i += row_threads) to[i] = from[i];
}

/// normalize_into_slots, and then gather_slots of the same row: what a step ends with. Grid: rows.
/// Shared memory: 256 floats.
TEMPERA_KERNEL(row_threads)
normalize_and_gather_slots(const float* states, const float* weight, const TokenRows computed,
                           const CachedRows asked, unsigned size, float epsilon,
                           const PagePart part, std::uint16_t* gathered) {
  const unsigned row = simt::block().x;
  const unsigned position = computed.positions[row];
  std::uint16_t* const page =
      part_of_page<std::uint16_t>(part, page_of_position(computed, row, position));
  normalize_by_block(states + std::size_t{row} * size, weight, size, epsilon,
                     page + position % page_tokens * size);
  // A thread gathers the elements that it wrote, if they are the same.
  const std::uint16_t* const from =
      part_of_page<std::uint16_t>(part, asked.pages[row]) + std::size_t{asked.slots[row]} * size;
  std::uint16_t* const to = gathered + std::size_t{row} * size;
  for (unsigned i = simt::thread(); i < size; i += row_threads) to[i] = from[i];
}

/// Copies page sources[c] to page targets[c]. Grid: (pieces of a page, copies).
TEMPERA_KERNEL(row_threads)
copy_whole_pages(const std::uint32_t* sources, const std::uint32_t* targets,
                 const PageMemory memory) {
  const unsigned copy = simt::block().y;
  copy_page(memory, sources[copy], targets[copy], simt::block().x * row_threads + simt::thread(),
            simt::blocks().x * row_threads);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
