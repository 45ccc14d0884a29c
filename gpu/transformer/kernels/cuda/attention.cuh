#pragma once

#include <cfloat>
#include <cstdint>
#include <cstring>

#include "gpu/device/tensor_core.hpp"
#include "gpu/transformer/kernels/cuda/page_of_position.cuh"
#include "gpu/transformer/kernels/cuda/tree.cuh"
#include "gpu/transformer/kernels/cuda/turned_head.cuh"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/recurrent_kernels.hpp"

// Attention over pages, by splits of 256 positions on the absolute grid (docs/arithmetic.md). A
// block has one split of one row and the queries that share a key head, up to `Queries` of them, so
// that each key and value is read once for all of them; the block that ends last for a row combines
// the splits in order. Neither the batch nor the other rows' lengths can change a bit.
//
// If no row attends to another row's key, as in every step of decoding, a block also rotates the
// queries that it takes, and the block of the row's last split rotates the row's key: no kernel of
// its own is needed for that (HeadRotation). Otherwise queries and keys were rotated before.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned split_positions = 256;
constexpr unsigned run_positions = 32;  // that one warp adds the values of
constexpr unsigned attention_threads = split_positions;
constexpr unsigned attention_warps = attention_threads / simt::warp_lanes;

/// Blocks that share a multiprocessor at least: as many as its shared memory has room for.
constexpr unsigned attention_blocks(unsigned pairs, unsigned queries) {
  return pairs == 4 ? 1 : queries == 8 ? 2 : 3;
}

/// Memory for the partial results: of the split `s` of a row's head at index
/// (row · heads + head) · splits + s.
struct AttentionScratch {
  float* maxima;            // m
  float* sums;              // l
  float* outputs;           // o, [., head_dim]
  std::uint32_t* counters;  // [rows, query tiles]; zero between launches
  unsigned splits;          // of the longest row
};

/// Where things are in the shared memory of a block:
///   positions  [256, pitch] of 16 bytes: the keys, then the values, then the sums of the runs
///   queries    [Queries, 8 · chunks] float32
///   p          [256, Queries] float32
///   maxima     [warps, Queries] float32
struct AttentionLayout {
  unsigned chunks;  // of 8 elements in a head
  unsigned pitch;   // odd, so that eight neighbouring rows are in different banks

  TEMPERA_HOST_DEVICE static AttentionLayout of(unsigned head_dim) {
    const unsigned chunks = (head_dim + 7) / 8;
    return {chunks, chunks | 1U};
  }
  TEMPERA_HOST_DEVICE std::size_t queries_begin() const {
    return std::size_t{split_positions} * pitch * 16;
  }
  TEMPERA_HOST_DEVICE std::size_t p_begin(unsigned queries) const {
    return queries_begin() + std::size_t{queries} * chunks * 8 * sizeof(float);
  }
  TEMPERA_HOST_DEVICE std::size_t maxima_begin(unsigned queries) const {
    return p_begin(queries) + std::size_t{split_positions} * queries * sizeof(float);
  }
  TEMPERA_HOST_DEVICE std::size_t bytes(unsigned queries) const {
    return maxima_begin(queries) + std::size_t{attention_warps} * queries * sizeof(float) + 16;
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

/// attended[row, head] = bf16(O · (1 / L)) from the splits of the row in order, if there are
/// gates times sigmoid(gate) and rounded once more, for the query heads first_head … first_head +
/// heads − 1. By the whole block. gates: [heads, head_dim], or null.
TEMPERA_ON_DEVICE inline void combine_splits(const AttentionShape& shape,
                                             const AttentionScratch& scratch, unsigned row,
                                             unsigned first_head, unsigned heads, unsigned splits,
                                             const float* gates, std::uint16_t* attended) {
  const auto size = static_cast<unsigned>(shape.head_dim);
  for (unsigned e = simt::thread(); e < heads * size; e += attention_threads) {
    const unsigned d = e % size;
    const std::size_t head = std::size_t{row} * shape.heads + first_head + e / size;
    const std::size_t begin = head * scratch.splits;
    float largest = -FLT_MAX;
    for (unsigned j = 0; j < splits; ++j) {
      const float m = simt::load_shared_by_blocks(scratch.maxima + begin + j);
      largest = m > largest ? m : largest;
    }
    float sum = 0;
    float output = 0;
    for (unsigned j = 0; j < splits; ++j) {
      const float weight =
          float32_exponential(simt::load_shared_by_blocks(scratch.maxima + begin + j) - largest);
      sum = fused_multiply_add(simt::load_shared_by_blocks(scratch.sums + begin + j), weight, sum);
      output = fused_multiply_add(
          simt::load_shared_by_blocks(scratch.outputs + (begin + j) * size + d), weight, output);
    }
    std::uint16_t result = to_bfloat16(output * (1.0f / sum));
    if (gates != nullptr) result = to_bfloat16(from_bfloat16(result) * sigmoid(gates[e]));
    attended[head * size + d] = result;
  }
}

/// One head of a row's own token as bfloat16 in the shared memory of the block, where
/// bring_positions would have brought it, and in its page if `kept`.
struct OwnSlot {
  std::uint16_t* shared;
  std::uint16_t* page;
  bool kept;
  TEMPERA_ON_DEVICE void operator()(unsigned d, float value) const {
    shared[d] = to_bfloat16(value);
    if (kept) page[d] = to_bfloat16(value);
  }
};

/// attended[row, h] = Σ_s softmax_s(q_h · k_s / sqrt(head_dim)) v_s over the positions s up to the
/// row's own, times sigmoid(gate) if the shape has gates. attended: [rows, heads · head_dim],
/// bfloat16. Grid: (splits, key_value_heads · query tiles, rows). Head size: at most 64 · Pairs.
/// rotation: of queries and keys as the projection left them, which with the values then go into
/// the pages, too; without tables, all of that was done before.
template <unsigned Pairs, unsigned Queries>
TEMPERA_KERNEL(attention_threads, attention_blocks(Pairs, Queries))
attend_split(const AttentionShape shape, const HeadRotation rotation, float scale,
             const float* query_key_value, const TokenRows batch, const PagePart keys,
             const PagePart values, const AttentionScratch scratch, std::uint16_t* attended) {
  simt::let_next_begin();
  simt::wait_for_inputs();
  const auto size = static_cast<unsigned>(shape.head_dim);
  const auto group = static_cast<unsigned>(shape.heads / shape.key_value_heads);
  const unsigned tiles = (group + Queries - 1) / Queries;
  const unsigned row = simt::block().z;
  const unsigned split = simt::block().x;
  const unsigned key_head = simt::block().y / tiles;
  const unsigned in_group = simt::block().y % tiles * Queries;
  const unsigned first_head = key_head * group + in_group;
  const unsigned heads = group - in_group < Queries ? group - in_group : Queries;
  const unsigned position = batch.positions[row];
  const unsigned first = split * split_positions;
  if (first > position) return;
  const unsigned left = position + 1 - first;
  const unsigned count = left < split_positions ? left : split_positions;

  const AttentionLayout layout = AttentionLayout::of(size);
  auto* const rows = simt::shared_memory<simt::Vector16>();
  auto* const queries = simt::shared_memory<float>(layout.queries_begin());
  auto* const p = simt::shared_memory<float>(layout.p_begin(Queries));
  auto* const maxima = simt::shared_memory<float>(layout.maxima_begin(Queries));
  const unsigned thread = simt::thread();
  const unsigned warp = simt::warp();
  const unsigned lane = simt::lane();

  // The row's own key and value, last of the last split, if this kernel makes them.
  const bool rotates = rotation.tables.cosines != nullptr;
  const bool has_own = rotates && count == left;
  const unsigned paged = has_own ? count - 1 : count;
  const float* const own = query_key_value + row * shape.row_floats;
  auto* const own_row = reinterpret_cast<std::uint16_t*>(rows + (count - 1) * layout.pitch);
  const auto own_slot = [&](const PagePart& part) {
    const std::size_t page = page_of_position(batch, row, position);
    return OwnSlot{own_row, slot_of_position(part, page, key_head, position, size), in_group == 0};
  };

  const std::uint32_t* const pages = batch.page_table + batch.first_page[row];
  bring_positions(keys, pages, key_head, size, first, paged, layout, rows);
  const unsigned padded_size = layout.chunks * 8;
  for (unsigned e = thread; e < Queries * padded_size; e += attention_threads) {
    const unsigned q = e / padded_size;
    const unsigned d = e % padded_size;
    const bool there = q < heads && d < size;
    if (there && rotates) continue;
    queries[e] = there ? own[(first_head + q) * size + d] : 0.0f;
  }
  if (rotates) {
    const unsigned half = rotary_half(shape);
    const unsigned turned = heads + (has_own ? 1 : 0);
    for (unsigned vector = warp; vector < turned; vector += attention_warps) {
      const bool is_query = vector < heads;
      const unsigned begin = is_query ? (first_head + vector) * size
                                      : static_cast<unsigned>(shape.key_begin) + key_head * size;
      float* const query = queries + vector * padded_size;
      const OwnSlot slot = is_query ? OwnSlot{nullptr, nullptr, false} : own_slot(keys);
      turn_head(own + begin, is_query ? rotation.query_norm : rotation.key_norm, rotation, position,
                size, half, [&](unsigned d, float value) {
                  if (is_query) {
                    query[d] = value;
                  } else {
                    slot(d, value);
                  }
                });
    }
    if (has_own) {
      for (unsigned d = size + thread; d < padded_size; d += attention_threads) own_row[d] = 0;
    }
  }
  simt::wait_copies<0>();
  simt::barrier();

  // Scores: one thread per position, all queries.
  float score[Queries] = {};
  if (thread < count) {
    for (unsigned chunk = 0; chunk < layout.chunks; ++chunk) {
      const simt::Vector16 words = rows[thread * layout.pitch + chunk];
      const float key[8] = {lower_bfloat16(words.x), upper_bfloat16(words.x),
                            lower_bfloat16(words.y), upper_bfloat16(words.y),
                            lower_bfloat16(words.z), upper_bfloat16(words.z),
                            lower_bfloat16(words.w), upper_bfloat16(words.w)};
      TEMPERA_UNROLL
      for (unsigned q = 0; q < Queries; ++q) {
        float query[8];
        load_neighbours(queries + q * padded_size + chunk * 8, query);
        TEMPERA_UNROLL
        for (unsigned i = 0; i < 8; ++i) score[q] = fused_multiply_add(query[i], key[i], score[q]);
      }
    }
  }
  TEMPERA_UNROLL
  for (unsigned q = 0; q < Queries; ++q) {
    score[q] = thread < count ? scale * score[q] : -FLT_MAX;
    float largest = score[q];
    TEMPERA_UNROLL
    for (unsigned half = 16; half > 0; half /= 2) {
      const float other = simt::shuffle_xor(largest, half);
      largest = other > largest ? other : largest;
    }
    if (lane == 0) maxima[warp * Queries + q] = largest;
  }
  simt::barrier();  // all keys have been read, too
  bring_positions(values, pages, key_head, size, first, paged, layout, rows);
  if (has_own) {
    const OwnSlot slot = own_slot(values);
    const float* const value = own + shape.value_begin + key_head * size;
    for (unsigned d = thread; d < size; d += attention_threads) slot(d, value[d]);
  }

  const std::size_t partial =
      (std::size_t{row} * shape.heads + first_head) * scratch.splits + split;
  TEMPERA_UNROLL
  for (unsigned q = 0; q < Queries; ++q) {
    float largest = -FLT_MAX;
    for (unsigned w = 0; w < attention_warps; ++w) {
      const float other = maxima[w * Queries + q];
      largest = other > largest ? other : largest;
    }
    p[thread * Queries + q] = thread < count ? float32_exponential(score[q] - largest) : 0.0f;
    if (thread == 0 && q < heads) scratch.maxima[partial + q * scratch.splits] = largest;
  }
  simt::wait_copies<0>();
  simt::barrier();

  if (warp < heads) {
    const float sum = tree_of_256(p + warp, Queries);
    if (lane == 0) scratch.sums[partial + warp * scratch.splits] = sum;
  }
  // Values: one run of positions per warp, two neighbouring elements per lane and pair.
  float run[Queries][Pairs][2] = {};
  const unsigned run_begin = warp * run_positions;
  const unsigned run_end = run_begin + run_positions < count ? run_begin + run_positions : count;
  for (unsigned s = run_begin; s < run_end; ++s) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(rows + s * layout.pitch);
    float weights[Queries];
    load_neighbours(p + s * Queries, weights);
    TEMPERA_UNROLL
    for (unsigned pair = 0; pair < Pairs; ++pair) {
      const unsigned word = pair * simt::warp_lanes + lane;
      if (word * 2 >= size) continue;
      const float low = lower_bfloat16(words[word]);
      const float high = upper_bfloat16(words[word]);
      TEMPERA_UNROLL
      for (unsigned q = 0; q < Queries; ++q) {
        run[q][pair][0] = fused_multiply_add(weights[q], low, run[q][pair][0]);
        run[q][pair][1] = fused_multiply_add(weights[q], high, run[q][pair][1]);
      }
    }
  }
  simt::barrier();  // the values have been read; the sums of the runs take their place
  auto* const runs = reinterpret_cast<float*>(rows);  // [warps, Queries, size]
  TEMPERA_UNROLL
  for (unsigned q = 0; q < Queries; ++q) {
    TEMPERA_UNROLL
    for (unsigned pair = 0; pair < Pairs; ++pair) {
      const unsigned d = (pair * simt::warp_lanes + lane) * 2;
      if (d >= size) continue;
      runs[(warp * Queries + q) * size + d] = run[q][pair][0];
      runs[(warp * Queries + q) * size + d + 1] = run[q][pair][1];
    }
  }
  simt::barrier();
  const unsigned used_runs = (count + run_positions - 1) / run_positions;
  for (unsigned e = thread; e < heads * size; e += attention_threads) {
    float sum = runs[e];
    for (unsigned w = 1; w < used_runs; ++w) sum += runs[w * Queries * size + e];
    scratch.outputs[(partial + e / size * scratch.splits) * size + e % size] = sum;
  }

  // The block that finds the row's other splits there combines them.
  const unsigned splits = position / split_positions + 1;
  auto* const arrived = reinterpret_cast<std::uint32_t*>(maxima + attention_warps * Queries);
  std::uint32_t* const counter =
      scratch.counters + std::size_t{row} * simt::blocks().y + simt::block().y;
  simt::fence();
  simt::barrier();
  if (thread == 0) {
    *arrived = simt::atomic_add(counter, 1U) + 1;
    if (*arrived == splits) *counter = 0;
  }
  simt::barrier();
  if (*arrived != splits) return;
  simt::fence();
  const float* const gates =
      shape.gate_begin == 0 ? nullptr : own + shape.gate_begin + first_head * size;
  combine_splits(shape, scratch, row, first_head, heads, splits, gates, attended);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
