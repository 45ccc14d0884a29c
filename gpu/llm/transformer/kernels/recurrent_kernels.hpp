#pragma once

#include <cmath>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/tree_sum.hpp"
#include "gpu/llm/transformer/weights/tiled_index.hpp"

// The steps of recurrent layers (gated DeltaNet) and of gated attention, written once for every
// form: call operator()(item) for every item. All is float32, whatever the arithmetic, but for what
// goes into a product: `Stored`, float or the bits of a bfloat16. docs/reference/arithmetic.md has
// the sequences.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

TEMPERA_HOST_DEVICE inline float sigmoid(float x) {
  return 1.0f / (1.0f + float32_exponential(-x));
}
TEMPERA_HOST_DEVICE inline float silu(float x) { return x / (1.0f + float32_exponential(-x)); }

TEMPERA_HOST_DEVICE inline float read_input(float stored) { return stored; }
TEMPERA_HOST_DEVICE inline float read_input(std::uint16_t stored) { return from_bfloat16(stored); }
TEMPERA_HOST_DEVICE inline void write_input(float x, float& stored) { stored = x; }
TEMPERA_HOST_DEVICE inline void write_input(float x, std::uint16_t& stored) {
  stored = to_bfloat16(x);
}

/// Channels of a layer's convolution: those of queries, keys and values of all heads.
TEMPERA_HOST_DEVICE inline std::size_t channels_of(const RecurrentShape& shape) {
  return 2 * shape.key_heads * shape.key_dim + shape.value_heads * shape.value_dim;
}

/// The place of a head among the answers.
TEMPERA_HOST_DEVICE inline std::size_t answer_index(const RecurrentShape& shape, std::size_t head) {
  return shape.tiles_answers ? tiled_index(shape.key_heads, shape.value_heads, head) : head;
}

/// Where a token of a record finds the state before it, null if it is zero, and leaves that
/// after it. Both are the same but for the first token after a checkpoint.
struct StatePointers {
  const float* before;
  float* after;
};
TEMPERA_HOST_DEVICE inline StatePointers state_pointers(const RecurrentRows& rows,
                                                        std::size_t record, std::size_t position,
                                                        const PagePart& part) {
  const std::uint32_t* states = rows.state_table + rows.first_state[record];
  float* after = part_of_page<float>(part, states[position / state_tokens]);
  if (position % state_tokens != 0) return {after, after};
  if (position == 0) return {nullptr, after};
  return {part_of_page<float>(part, states[position / state_tokens - 1]), after};
}

/// Channel c of a token becomes silu(Σ_j weight[j, c] · x_c(taps - 1 - j tokens before it)), oldest
/// first. An item is a block of channels of one record.
struct Convolve {
  static constexpr std::size_t block = 256;

  RecurrentShape shape;
  const float* weight;  // [taps, channels]
  TokenRows batch;
  PagePart inputs;   // [taps - 1, channels]
  float* projected;  // [rows, shape.row_floats]

  TEMPERA_HOST_DEVICE std::size_t blocks() const {
    return (channels_of(shape) + block - 1) / block;
  }
  TEMPERA_HOST_DEVICE std::size_t items() const { return batch.recurrent.records * blocks(); }

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t record = item / blocks();
    const std::size_t channels = channels_of(shape);
    const std::size_t begin = item % blocks() * block;
    const std::size_t end = begin + block < channels ? begin + block : channels;
    const std::size_t kept = shape.taps - 1;
    const RecurrentRows& rows = batch.recurrent;
    for (std::size_t row = rows.first_row[record]; row < rows.first_row[record + 1]; ++row) {
      const auto [before, after] = state_pointers(rows, record, batch.positions[row], inputs);
      float* x = projected + row * shape.row_floats;
      for (std::size_t c = begin; c < end; ++c) {
        const float own = x[c];
        float sum = 0.0f;
        for (std::size_t j = 0; j < kept; ++j) {
          const float input = before == nullptr ? 0.0f : before[j * channels + c];
          sum = fused_multiply_add(weight[j * channels + c], input, sum);
          // What an input was before it is overwritten by the one after it has been read.
          if (j > 0) after[(j - 1) * channels + c] = input;
        }
        sum = fused_multiply_add(weight[kept * channels + c], own, sum);
        after[(kept - 1) * channels + c] = own;
        x[c] = silu(sum);
      }
    }
  }
};

/// Queries and keys become x / sqrt(Σ x^2 + 1e-6), queries besides over sqrt(key_dim); strengths
/// sigmoid(b); decays exp(-rate · log(1 + exp(a + bias))), in double and then rounded. An item is a
/// row.
struct PrepareRecurrence {
  RecurrentShape shape;
  const float* rates;   // [value_heads]
  const float* biases;  // [value_heads]
  float* projected;     // [rows, shape.row_floats]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    float* buffer = projected + row * shape.row_floats;
    const float scale = 1.0f / sqrtf(static_cast<float>(shape.key_dim));
    for (std::size_t head = 0; head < 2 * shape.key_heads; ++head) {
      float* x = buffer + head * shape.key_dim;
      const float factor = 1.0f / sqrtf(sum_of_squares<16>(x, shape.key_dim) + 1e-6f);
      const bool is_query = head < shape.key_heads;
      for (std::size_t d = 0; d < shape.key_dim; ++d) {
        x[d] = is_query ? x[d] * factor * scale : x[d] * factor;
      }
    }
    for (std::size_t head = 0; head < shape.value_heads; ++head) {
      float& strength = buffer[shape.strength_begin + head];
      strength = sigmoid(strength);
      float& decay = buffer[shape.decay_begin + head];
      const double step = logarithm(1.0 + exponential(static_cast<double>(decay + biases[head])));
      decay = static_cast<float>(exponential(-static_cast<double>(rates[head]) * step));
    }
  }
};

/// weight · (o / sqrt(mean(o^2) + epsilon)) · silu(gate) of every value head. An item is a row.
template <class Stored>
struct NormalizeGated {
  RecurrentShape shape;
  const float* weight;  // [value_dim]
  float epsilon;
  const float* projected;  // [rows, shape.row_floats], outputs in the place of the values
  Stored* normed;          // [rows, value_heads, value_dim], heads by answer_index

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const float* buffer = projected + row * shape.row_floats;
    for (std::size_t head = 0; head < shape.value_heads; ++head) {
      const std::size_t begin = head * shape.value_dim;
      const float* output = buffer + 2 * shape.key_heads * shape.key_dim + begin;
      const float* gate = buffer + shape.gate_begin + begin;
      const float mean =
          sum_of_squares<16>(output, shape.value_dim) / static_cast<float>(shape.value_dim);
      const float factor = 1.0f / sqrtf(mean + epsilon);
      Stored* target =
          normed + (row * shape.value_heads + answer_index(shape, head)) * shape.value_dim;
      for (std::size_t d = 0; d < shape.value_dim; ++d) {
        write_input(weight[d] * (output[d] * factor) * silu(gate[d]), target[d]);
      }
    }
  }
};

/// attended_i becomes attended_i · sigmoid(gate_i). An item is a row.
template <class Stored>
struct GateAttended {
  const float* gates;  // of the first row
  std::size_t row_floats;
  std::size_t size;
  Stored* attended;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    for (std::size_t i = 0; i < size; ++i) {
      Stored& x = attended[row * size + i];
      write_input(read_input(x) * sigmoid(gates[row * row_floats + i]), x);
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
