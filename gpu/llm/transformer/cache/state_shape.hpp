#pragma once

#include <cstddef>

#include "gpu/llm/transformer/cache/page_part.hpp"

namespace tempera::gpu {

/// Tokens between two checkpoints of a recurrent state, on the absolute grid. State s of a record
/// is written by its tokens s · state_tokens .. (s + 1) · state_tokens - 1, one after the other:
/// after the last of them it is the checkpoint that the next state begins from, and nobody writes
/// it again.
constexpr std::size_t state_tokens = 64;

/// Columns of a delta rule's memory that are side by side.
constexpr std::size_t state_lanes = 16;

/// How the recurrent layers of one architecture read a row of projected inputs: queries and keys
/// [key_heads, key_dim] each and values [value_heads, value_dim], which the convolution sees, from
/// 0 on; gates [value_heads, value_dim], and one write strength and one decay for each value head.
/// value_heads / key_heads neighbours share a query and a key. Answers are [value_heads,
/// value_dim], in the same order or at their places of weights/tiled_index.hpp.
struct RecurrentShape {
  std::size_t key_heads;
  std::size_t value_heads;  // a multiple of key_heads
  std::size_t key_dim;
  std::size_t value_dim;
  std::size_t taps;  // of the convolution, its own token's among them
  std::size_t gate_begin;
  std::size_t strength_begin;
  std::size_t decay_begin;
  std::size_t row_floats;
  bool tiles_answers = false;
};

/// The layout of a recurrent state, float32: in the array of every recurrent layer the latest
/// inputs of the convolution [taps - 1, channels], oldest first, and after them, from a multiple of
/// 16 bytes on, the memories [value_heads, value_dim / state_lanes rounded up, key_dim,
/// state_lanes]. There is no last array.
struct StateShape {
  std::size_t layers;
  std::size_t channels;
  std::size_t taps;
  std::size_t value_heads;
  std::size_t key_dim;
  std::size_t value_dim;

  /// A state of every layer; `memory` is that of all states.
  PagePart inputs(const PageMemory& memory, std::size_t layer) const {
    return part_of_array(memory, layer);
  }
  PagePart memories(const PageMemory& memory, std::size_t layer) const {
    return part_after(part_of_array(memory, layer), input_bytes());
  }
  ArraysLayout layout() const { return {layers, layer_bytes(), 0}; }

 private:
  std::size_t input_bytes() const { return ((taps - 1) * channels + 3) / 4 * 4 * sizeof(float); }
  std::size_t layer_bytes() const {
    const std::size_t blocks = (value_dim + state_lanes - 1) / state_lanes;
    return input_bytes() + value_heads * blocks * key_dim * state_lanes * sizeof(float);
  }
};

}  // namespace tempera::gpu
