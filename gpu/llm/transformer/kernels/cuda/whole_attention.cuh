#pragma once

#include <cfloat>

#include "gpu/llm/transformer/kernels/cuda/tree.cuh"
#include "gpu/llm/transformer/kernels/cuda/whole_rows.cuh"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"

// Attention of `integer`: a block for a query and a split of 256 positions, a thread for each of
// these; and then the splits in order. One source includes this file.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned whole_split = 256;

/// The results of every query's splits: [rows, heads, splits], outputs with [head_dim] more.
struct WholeSplits {
  float* maxima;    // m
  float* sums;      // l
  float* outputs;   // u
  unsigned splits;  // of the longest row

  static std::size_t floats(const AttentionShape& shape, std::size_t rows, std::size_t splits) {
    return rows * shape.heads * splits * (shape.head_dim + 2);
  }
  static WholeSplits in(float* memory, const AttentionShape& shape, std::size_t rows,
                        std::size_t splits) {
    const std::size_t count = rows * shape.heads * splits;
    return {memory, memory + count, memory + 2 * count, static_cast<unsigned>(splits)};
  }
};

/// Where the parts of a block's shared memory are, in bytes.
struct WholeSplitMemory {
  static constexpr std::size_t masses = WholeRowThreads::room_words * sizeof(std::uint64_t);
  static constexpr std::size_t scaled = masses + whole_split * sizeof(float);
  static constexpr std::size_t shares = scaled + whole_split * sizeof(float);
  static constexpr std::size_t query_step = shares + whole_split * sizeof(std::int16_t);
  static constexpr std::size_t query = query_step + sizeof(float);
  static constexpr std::size_t bytes(std::size_t head_dim) {
    return query + head_dim * sizeof(std::int16_t);
  }
};

/// Grid: (splits, heads, rows). Shared memory: WholeSplitMemory.
TEMPERA_KERNEL(whole_split)
attend_whole_split(const AttentionShape shape, float scale, const float* query_key_value,
                   const TokenRows batch, const PagePart keys, const PagePart values,
                   const WholeSplits results) {
  using Memory = WholeSplitMemory;
  static_assert(whole_split == whole_row_threads);
  const unsigned split = simt::block().x;
  const unsigned head = simt::block().y;
  const unsigned row = simt::block().z;
  const auto size = static_cast<unsigned>(shape.head_dim);
  const unsigned first = split * whole_split;
  const unsigned context = batch.positions[row] + 1;
  if (first >= context) return;
  const unsigned seen = context - first < whole_split ? context - first : whole_split;
  const unsigned key_head = head / static_cast<unsigned>(shape.heads / shape.key_value_heads);
  const WholeRowThreads threads{simt::shared_memory<std::uint64_t>()};
  auto* const masses = simt::shared_memory<float>(Memory::masses);
  auto* const scaled = simt::shared_memory<float>(Memory::scaled);
  auto* const shares = simt::shared_memory<std::int16_t>(Memory::shares);
  auto* const query_step = simt::shared_memory<float>(Memory::query_step);
  auto* const query_words = simt::shared_memory<std::uint32_t>(Memory::query);

  if (simt::warp() == 0) {
    const float* const query = query_key_value + std::size_t{row} * shape.row_floats + head * size;
    const WholeRow whole = whole_row_by(LanesOfRow(), query, size, input_squares);
    for (unsigned d = 2 * simt::lane(); d < size; d += 2 * simt::warp_lanes) {
      query_words[d / 2] =
          word_of_pair(number_of_row(whole, query[d]), number_of_row(whole, query[d + 1]));
    }
    if (simt::lane() == 0) *query_step = whole.step();
  }
  simt::barrier();

  // A thread's own position. Elsewhere all are as if it were not seen.
  const unsigned own = simt::thread();
  const unsigned slot = own % static_cast<unsigned>(page_tokens);
  float score = -FLT_MAX;
  std::int32_t exponent = SixteenBitElements::of_zeros;
  std::uint32_t unusual = 0;
  if (own < seen) {
    const std::size_t page = page_of_position(batch, row, first + own);
    std::int16_t* const key = whole_head(keys, page, key_head, size);
    const auto* const key_words = reinterpret_cast<const std::uint32_t*>(key) + slot;
    std::uint32_t dot = 0;
    TEMPERA_NO_UNROLL
    for (unsigned pair = 0; pair < size / 2; ++pair) {
      dot += product_of_pairs(key_words[pair * page_tokens], query_words[pair]);
    }
    const std::int32_t key_exponent = exponents_of_head(key, size)[slot];
    exponent = exponents_of_head(whole_head(values, page, key_head, size), size)[slot];
    // A key of zeros has any exponent.
    const float step =
        power_of_two(key_exponent == SixteenBitElements::of_zeros ? 0 : -key_exponent);
    score = static_cast<float>(static_cast<std::int32_t>(dot)) * (*query_step * step) * scale;
    unusual = key_exponent == SixteenBitElements::unfit || exponent == SixteenBitElements::unfit ||
                      score - score != 0.0f
                  ? 1
                  : 0;
  }
  const float largest = threads.all(score, [](float a, float b) { return a > b ? a : b; });
  const std::int32_t least =
      threads.all(exponent, [](std::int32_t a, std::int32_t b) { return a < b ? a : b; });
  unusual = threads.all(unusual, [](std::uint32_t a, std::uint32_t b) { return a | b; });
  const bool any_value = least != SixteenBitElements::of_zeros;

  const float mass = own < seen ? float32_exponential(score - largest) : 0.0f;
  const std::int32_t down = exponent - least;
  masses[own] = mass;
  scaled[own] = exponent == SixteenBitElements::of_zeros
                    ? 0.0f
                    : mass * power_of_two(-(down < 31 ? down : 31));
  simt::barrier();
  const float all = tree_of_256(scaled);
  std::int32_t number = 0;
  if (any_value) {
    number = whole_number(scaled[own] * (1.0f / all), 0x1p15f);
    number = number < largest_whole ? number : largest_whole;
  }
  shares[own] = static_cast<std::int16_t>(number);
  const std::uint32_t total = threads.all(static_cast<std::uint32_t>(number),
                                          [](std::uint32_t a, std::uint32_t b) { return a + b; });
  // The value of a whole sum's unit.
  const float step =
      any_value ? all / static_cast<float>(static_cast<std::int32_t>(total)) * power_of_two(-least)
                : 0.0f;

  const std::size_t result = (std::size_t{row} * shape.heads + head) * results.splits + split;
  const auto* const share_words = reinterpret_cast<const std::uint32_t*>(shares);
  for (unsigned d = own; d < size; d += whole_split) {
    std::uint32_t sum = 0;
    TEMPERA_NO_UNROLL
    for (unsigned pair = 0; 2 * pair < seen; ++pair) {
      const std::size_t page = page_of_position(batch, row, first + 2 * pair);
      const auto* const words =
          reinterpret_cast<const std::uint32_t*>(whole_head(values, page, key_head, size));
      sum += product_of_pairs(words[pair % (page_tokens / 2) * size + d], share_words[pair]);
    }
    results.outputs[result * size + d] = static_cast<float>(static_cast<std::int32_t>(sum)) * step;
  }
  const float own_sum = tree_of_256(masses);
  if (own != 0) return;
  results.maxima[result] = largest;
  results.sums[result] = unusual == 0 ? own_sum : __builtin_nanf("");
}

constexpr unsigned whole_combining_threads = 128;

/// attended[row, head] = O · (1 / L) from the splits of the row in order. Grid: (heads, rows).
TEMPERA_KERNEL(whole_combining_threads)
combine_whole_splits(const AttentionShape shape, const TokenRows batch, const WholeSplits results,
                     float* attended) {
  const unsigned head = simt::block().x;
  const unsigned row = simt::block().y;
  const auto size = static_cast<unsigned>(shape.head_dim);
  const unsigned splits = batch.positions[row] / whole_split + 1;
  const std::size_t begin = (std::size_t{row} * shape.heads + head) * results.splits;
  float largest = results.maxima[begin];
  for (unsigned j = 1; j < splits; ++j) {
    const float m = results.maxima[begin + j];
    largest = m > largest ? m : largest;
  }
  for (unsigned d = simt::thread(); d < size; d += whole_combining_threads) {
    float sum = 0.0f;
    float output = 0.0f;
    TEMPERA_NO_UNROLL
    for (unsigned j = 0; j < splits; ++j) {
      const float weight = float32_exponential(results.maxima[begin + j] - largest);
      sum = fused_multiply_add(results.sums[begin + j], weight, sum);
      output = fused_multiply_add(results.outputs[(begin + j) * size + d], weight, output);
    }
    attended[(std::size_t{row} * shape.heads + head) * size + d] = output * (1.0f / sum);
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
