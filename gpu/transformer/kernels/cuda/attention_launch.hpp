#pragma once

#include "gpu/transformer/kernels/cuda/attention.cuh"

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

/// Counters that a launch needs.
inline std::size_t attention_counters(const AttentionShape& shape, std::size_t rows) {
  const std::size_t queries = attention_queries(shape);
  const std::size_t group = shape.heads / shape.key_value_heads;
  return rows * shape.key_value_heads * ((group + queries - 1) / queries);
}

/// Shared memory that a block takes.
inline std::size_t attention_shared_bytes(const AttentionShape& shape) {
  return AttentionLayout::of(static_cast<unsigned>(shape.head_dim)).bytes(attention_queries(shape));
}

/// Queues the attention of a batch: one kernel. With the tables of `rotation` it rotates and fills
/// the pages, too, if every row is of a record of its own; without them that was done before. Head
/// size: even, at most 256, and within the shared
/// memory of the device.
/// @throw Bug for a larger one
void launch_attention(simt::Stream& stream, const AttentionShape& shape,
                      const HeadRotation& rotation, const float* query_key_value,
                      const TokenRows& batch, const PagePart& keys, const PagePart& values,
                      const AttentionScratch& scratch, std::uint16_t* attended);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
