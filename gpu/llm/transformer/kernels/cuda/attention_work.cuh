#pragma once

#include <cstdint>

#include "gpu/llm/transformer/kernels/cuda/turned_head.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Rows that a block takes together. More queries than 16 a block gain nothing: from there on
/// multiplying takes longer than reading, and their sums fill the registers.
constexpr unsigned attention_rows(unsigned pairs, unsigned queries) {
  const unsigned all_queries = pairs == 4 ? 8 : 16;
  return all_queries / queries < 8 ? all_queries / queries : 8;
}

/// Blocks that share a multiprocessor at least: as many as its shared memory has room for.
/// queries: of all rows of a block; bytes: of an element in a page.
constexpr unsigned attention_blocks(unsigned pairs, unsigned queries, std::size_t bytes) {
  if (pairs == 4) return bytes == 1 ? 2 : 1;
  return queries >= 8 ? 2 : 3;
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

/// What all blocks of a launch are given.
struct AttentionWork {
  AttentionShape shape;
  HeadRotation rotation;
  float scale;
  const float* query_key_value;
  TokenRows batch;
  PagePart keys;
  PagePart values;
  AttentionScratch scratch;
  std::uint16_t* attended;
};

/// Which of a group's work a block has: a split, and some of the queries that share a key head.
struct AttentionTask {
  unsigned split;         ///< of 256 positions
  unsigned queries;       ///< which of the groups of queries
  unsigned query_groups;  ///< of a row
};

/// An instance of attend_split, which takes the members of AttentionWork and `parts`.
using AttentionKernel = void (*)(AttentionShape, HeadRotation, float, const float*, TokenRows,
                                 PagePart, PagePart, AttentionScratch, std::uint16_t*, unsigned);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
