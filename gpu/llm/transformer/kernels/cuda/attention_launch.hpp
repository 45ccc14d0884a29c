#pragma once

#include "gpu/llm/transformer/kernels/cuda/attention.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The most elements that a head may have.
constexpr std::size_t largest_head = 256;

/// Splits of the longest row of a batch whose positions are below `context`.
inline unsigned attention_splits(std::size_t context) {
  return static_cast<unsigned>((context + split_positions - 1) / split_positions);
}

/// Queries that a block takes: the next power of two, at most 8, of those that share a key head.
inline unsigned attention_queries(const AttentionShape& shape) {
  const std::size_t group = shape.heads / shape.key_value_heads;
  return group <= 1 ? 1 : group <= 2 ? 2 : group <= 4 ? 4 : 8;
}

/// Counters that a launch needs whose blocks take so many queries.
inline std::size_t attention_counters(const AttentionShape& shape, std::size_t rows,
                                      std::size_t queries) {
  const std::size_t group = shape.heads / shape.key_value_heads;
  return rows * shape.key_value_heads * ((group + queries - 1) / queries);
}

inline std::size_t attention_counters(const AttentionShape& shape, std::size_t rows) {
  return attention_counters(shape, rows, attention_queries(shape));
}

/// Floats that a launch needs for its partial results.
inline std::size_t attention_floats(const AttentionShape& shape, std::size_t rows,
                                    unsigned splits) {
  return rows * shape.heads * splits * (2 + shape.head_dim);
}
/// Where they are among so many floats.
inline AttentionScratch attention_scratch(const AttentionShape& shape, std::size_t rows,
                                          unsigned splits, float* floats, std::uint32_t* counters) {
  const std::size_t partials = rows * shape.heads * splits;
  return {floats, floats + partials, floats + 2 * partials, counters, splits};
}

/// Rows that a block takes together if they share pages. Elements of 8 bits go by rows alone: half
/// of the bytes take as long to come as the multiply-adds of one row take.
inline unsigned attention_rows(const AttentionShape& shape, PageElements elements) {
  if (elements == PageElements::eight_bits) return 1;
  const unsigned pairs = shape.head_dim <= 64 ? 1 : shape.head_dim <= 128 ? 2 : 4;
  return attention_rows(pairs, attention_queries(shape));
}

/// Shared memory of a block that takes so many rows.
inline std::size_t attention_shared_bytes(const AttentionShape& shape, PageElements elements,
                                          unsigned rows) {
  const auto size = static_cast<unsigned>(shape.head_dim);
  const unsigned queries = rows * attention_queries(shape);
  return elements == PageElements::eight_bits
             ? AttentionLayout<EightBitElements>::of(size).bytes(queries)
             : AttentionLayout<Bfloat16Elements>::of(size).bytes(queries);
}

/// Queues an instance of attend_split, whose blocks take so many rows together.
inline void launch_attention_rows(simt::Stream& stream, AttentionKernel kernel,
                                  const AttentionWork& work, PageElements elements,
                                  unsigned rows_together) {
  // Rows of records of their own share their early splits alone. So a part begins with each row, or
  // else a block would compute what they do not share for one row after another.
  const unsigned parts = work.batch.own_records ? rows_together : 1;
  const auto rows = static_cast<unsigned>(work.batch.rows);
  const unsigned chunks = (rows + rows_together - 1) / rows_together;
  const auto heads = static_cast<unsigned>(attention_counters(work.shape, 1));
  simt::launch({.blocks = {work.scratch.splits, heads, chunks * parts},
                .threads = attention_threads,
                .shared_bytes = attention_shared_bytes(work.shape, elements, rows_together)},
               stream, kernel, work.shape, work.rotation, work.scale, work.query_key_value,
               work.batch, work.keys, work.values, work.scratch, work.attended, parts);
}

/// Queues the attention of a batch: one kernel. With the tables of `rotation` it also rotates the
/// heads and fills the pages; every row must then be of a record of its own. Without them that was
/// done before. Rows that batch.shared names go together, attention_rows of them a block. Head
/// size: even, at most 256, and within the shared memory of the device. elements: of the pages,
/// not float32.
/// @throw Bug for a larger one
void launch_attention(simt::Stream& stream, const AttentionShape& shape,
                      const HeadRotation& rotation, const float* query_key_value,
                      const TokenRows& batch, PageElements elements, const PagePart& keys,
                      const PagePart& values, const AttentionScratch& scratch,
                      std::uint16_t* attended);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
