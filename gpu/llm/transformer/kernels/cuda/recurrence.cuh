#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/recurrent_kernels.hpp"

// A recurrent layer between its two matrices as two kernels. The first computes every row of every
// record side by side: convolution, norms of queries and keys, strengths, decays. The second walks
// the tokens of a record: a block has one value head and holds its memory in shared memory from
// the first row to the last, prompts too, so that it makes no difference where a text was cut. It
// keeps the state after each checkpoint and after the last row.
//
// Bytes of a decode step: a head reads its memory once and writes it once, 2 · 4 · key_dim ·
// value_dim (128 KiB at 128 x 128), all by 16 bytes; besides, 4 · (2 key_dim + 3 value_dim) of
// vectors (2.5 KiB) and its share of the convolution's inputs, 2 · 4 · (taps - 1) · channels /
// value_heads (6 KiB of Qwen3.5-9B). Of Qwen3.5-9B's 24 layers with 32 heads that is 96 MiB of
// memories a row and step. The aim is 0.75 of the bandwidth on these
// at B = 64, where 2,048 blocks read 64 KiB each with two of them on a multiprocessor; at B = 1
// there are 32 blocks, which cannot fill the bus, and the weights are 180 times as many bytes.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned convolving_warps = 8;
constexpr unsigned walking_threads = 128;
/// Tokens whose vectors a block brings at a time, if a record has several rows.
constexpr unsigned tokens_at_a_time = 4;

/// Where things are in the shared memory of a block that walks a head:
///   memory   [key_dim, pitch] float32, the columns side by side
///   tokens   [group, token_floats]: query, key, value, gate, strength, decay
///   outputs  [2, value_dim]: of this token and of the one before
struct HeadLayout {
  unsigned key_dim;
  unsigned value_dim;
  unsigned columns;  // value_dim, filled up to state_lanes
  unsigned pitch;    // an odd multiple of state_lanes: neighbouring keys are in different banks
  unsigned group;    // tokens at a time

  TEMPERA_HOST_DEVICE static HeadLayout of(const RecurrentShape& shape, unsigned group) {
    const auto lanes = static_cast<unsigned>(state_lanes);
    const auto value_dim = static_cast<unsigned>(shape.value_dim);
    const unsigned blocks = (value_dim + lanes - 1) / lanes;
    return {static_cast<unsigned>(shape.key_dim), value_dim, blocks * lanes, (blocks | 1U) * lanes,
            group};
  }
  TEMPERA_HOST_DEVICE unsigned token_floats() const { return 2 * key_dim + 2 * value_dim + 2; }
  TEMPERA_HOST_DEVICE std::size_t tokens_begin() const {
    return std::size_t{key_dim} * pitch * sizeof(float);
  }
  TEMPERA_HOST_DEVICE std::size_t outputs_begin() const {
    return tokens_begin() + std::size_t{group} * token_floats() * sizeof(float);
  }
  TEMPERA_HOST_DEVICE std::size_t bytes() const {
    return outputs_begin() + std::size_t{2} * value_dim * sizeof(float);
  }
};

/// Σ_i x_i^2 in 16 partial sums, element i in i % 16, and their tree; by a whole warp, and every
/// lane gets it.
TEMPERA_ON_DEVICE inline float squares_by_warp(const float* x, unsigned size) {
  float sum = 0;
  for (unsigned i = simt::lane() % 16; i < size; i += 16) sum = fused_multiply_add(x[i], x[i], sum);
  TEMPERA_UNROLL
  for (unsigned half = 8; half > 0; half /= 2) sum += simt::shuffle_xor(sum, half);
  return sum;
}

/// The record that a row belongs to.
TEMPERA_ON_DEVICE inline unsigned record_of_row(const TokenRows& batch, unsigned row) {
  const RecurrentRows& records = batch.recurrent;
  if (records.records == batch.rows) return row;  // one row each
  unsigned first = 0;
  auto end = static_cast<unsigned>(records.records);
  while (end - first > 1) {
    const unsigned middle = (first + end) / 2;
    if (records.first_row[middle] <= row) {
      first = middle;
    } else {
      end = middle;
    }
  }
  return first;
}

/// What the convolution of one row sees: the inputs of a record's state, then those of its rows.
struct ConvolutionWindow {
  const float* kept;  // [taps - 1, channels], null if the text begins
  unsigned taps_kept;
  unsigned channels;
  const float* rows;  // of the record's first row on
  std::size_t row_floats;

  /// Input i of the channel, kept ones first.
  TEMPERA_ON_DEVICE float operator()(unsigned i, unsigned channel) const {
    if (i >= taps_kept) return rows[(i - taps_kept) * row_floats + channel];
    return kept == nullptr ? 0.0f : kept[i * channels + channel];
  }
};

TEMPERA_ON_DEVICE inline ConvolutionWindow window_of(const RecurrentShape& shape,
                                                     const TokenRows& batch, unsigned record,
                                                     unsigned first, const PagePart& inputs,
                                                     const float* projected) {
  const StatePointers pointers =
      state_pointers(batch.recurrent, record, batch.positions[first], inputs);
  return {pointers.before, static_cast<unsigned>(shape.taps - 1),
          static_cast<unsigned>(channels_of(shape)), projected + first * shape.row_floats,
          shape.row_floats};
}

/// convolved[row] = the convolution of the row's channels, queries and keys normalised; and the
/// row's write strengths and decays, in place. One warp a head: queries, keys, then values.
/// Grid: (heads / 8 rounded up, rows). Shared memory: 8 · key_dim floats.
/// projected: [rows, shape.row_floats]; convolved: [rows, channels].
TEMPERA_KERNEL(convolving_warps * 32)
convolve_heads(const RecurrentShape shape, const RecurrentWeights weights, const TokenRows batch,
               const PagePart inputs, float* projected, float* convolved) {
  const auto key_dim = static_cast<unsigned>(shape.key_dim);
  const auto value_dim = static_cast<unsigned>(shape.value_dim);
  const auto key_heads = static_cast<unsigned>(shape.key_heads);
  const unsigned row = simt::block().y;
  const unsigned head = simt::block().x * convolving_warps + simt::warp();
  if (head >= 2 * key_heads + shape.value_heads) return;
  const bool is_value = head >= 2 * key_heads;
  const unsigned size = is_value ? value_dim : key_dim;
  const unsigned begin =
      is_value ? 2 * key_heads * key_dim + (head - 2 * key_heads) * value_dim : head * key_dim;
  const unsigned record = record_of_row(batch, row);
  const unsigned first = batch.recurrent.first_row[record];
  const ConvolutionWindow window = window_of(shape, batch, record, first, inputs, projected);
  const unsigned taps = window.taps_kept + 1;
  float* const target = convolved + std::size_t{row} * window.channels + begin;
  float* const vector = simt::shared_memory<float>() + simt::warp() * key_dim;
  for (unsigned d = simt::lane(); d < size; d += simt::warp_lanes) {
    float sum = 0;
    for (unsigned tap = 0; tap < taps; ++tap) {
      sum = fused_multiply_add(weights.convolution[tap * window.channels + begin + d],
                               window(row - first + tap, begin + d), sum);
    }
    (is_value ? target : vector)[d] = silu(sum);
  }
  if (is_value) {
    if (simt::lane() != 0) return;
    const unsigned of = head - 2 * key_heads;
    float* const buffer = projected + row * shape.row_floats;
    float& strength = buffer[shape.strength_begin + of];
    strength = sigmoid(strength);
    float& decay = buffer[shape.decay_begin + of];
    const double step =
        logarithm(1.0 + exponential(static_cast<double>(decay + weights.biases[of])));
    decay = static_cast<float>(exponential(-static_cast<double>(weights.rates[of]) * step));
    return;
  }
  simt::warp_barrier();
  const float factor = 1.0f / sqrtf(squares_by_warp(vector, key_dim) + 1e-6f);
  const float scale = 1.0f / sqrtf(static_cast<float>(key_dim));
  for (unsigned d = simt::lane(); d < size; d += simt::warp_lanes) {
    target[d] = head < key_heads ? vector[d] * factor * scale : vector[d] * factor;
  }
}

/// Calls each(place in the state, place on the chip) for every 16 bytes of a head's memory, in
/// floats.
template <class Each>
TEMPERA_ON_DEVICE inline void for_each_vector(const HeadLayout& layout, const Each& each) {
  constexpr unsigned lanes = static_cast<unsigned>(state_lanes);
  const unsigned vectors = layout.key_dim * layout.columns / 4;
  TEMPERA_UNROLL_BY(4)
  for (unsigned i = simt::thread(); i < vectors; i += walking_threads) {
    const unsigned row = i / (lanes / 4);  // of a block of columns, after the blocks before it
    const unsigned block = row / layout.key_dim;
    each(i * 4, row % layout.key_dim * layout.pitch + block * lanes + i % (lanes / 4) * 4);
  }
}

/// One token of the delta rule, a column after another. token: as HeadLayout says.
TEMPERA_ON_DEVICE inline void apply_to_columns(const HeadLayout& layout, const float* token,
                                               float* memory, float* outputs) {
  const unsigned key_dim = layout.key_dim;
  const float* const query = token;
  const float* const key = token + key_dim;
  const float* const value = key + key_dim;
  const float* const scalars = value + 2 * layout.value_dim;
  const float strength = scalars[0];
  const float decay = scalars[1];
  for (unsigned column = simt::thread(); column < layout.value_dim; column += walking_threads) {
    float* const cells = memory + column;
    float answer = 0;
    TEMPERA_UNROLL_BY(8)
    for (unsigned k = 0; k < key_dim; ++k) {
      answer = fused_multiply_add(cells[k * layout.pitch] * decay, key[k], answer);
    }
    const float written = (value[column] - answer) * strength;
    float output = 0;
    TEMPERA_UNROLL_BY(8)
    for (unsigned k = 0; k < key_dim; ++k) {
      const float cell = fused_multiply_add(key[k], written, cells[k * layout.pitch] * decay);
      cells[k * layout.pitch] = cell;
      output = fused_multiply_add(cell, query[k], output);
    }
    outputs[column] = output;
  }
}

/// The latest inputs of the convolution after every checkpoint and the last row, of this block's
/// share of the channels.
TEMPERA_ON_DEVICE inline void keep_inputs(const RecurrentShape& shape, const TokenRows& batch,
                                          unsigned record, const PagePart& inputs,
                                          const float* projected) {
  const auto channels = static_cast<unsigned>(channels_of(shape));
  const unsigned share = (channels + simt::blocks().x - 1) / simt::blocks().x;
  const unsigned begin = simt::block().x * share;
  const unsigned end = begin + share < channels ? begin + share : channels;
  const unsigned last = batch.recurrent.first_row[record + 1];
  for (unsigned row = batch.recurrent.first_row[record]; row < last;) {
    const unsigned position = batch.positions[row];
    const unsigned left = static_cast<unsigned>(state_tokens) - position % state_tokens;
    const unsigned rows = last - row < left ? last - row : left;
    const ConvolutionWindow window = window_of(shape, batch, record, row, inputs, projected);
    float* const after = state_pointers(batch.recurrent, record, position, inputs).after;
    for (unsigned channel = begin + simt::thread(); channel < end; channel += walking_threads) {
      // If they are in the same state, each is read before the one that overwrites it.
      for (unsigned i = 0; i < window.taps_kept; ++i) {
        after[i * channels + channel] = window(rows + i, channel);
      }
    }
    row += rows;
  }
}

/// The delta rule of one head over the rows of one record, in order, and the gated norm of what it
/// answers. The block keeps the head's memory, and its share of the convolution's inputs.
/// Grid: (value heads, records). Shared memory: as HeadLayout::of(shape, group).
/// projected, convolved: as convolve_heads leaves them; answers: [rows, value_heads, value_dim],
/// bfloat16, heads by answer_index.
TEMPERA_KERNEL(walking_threads)
walk_head(const RecurrentShape shape, const RecurrentWeights weights, const TokenRows batch,
          const RecurrentStates states, const float* projected, const float* convolved,
          unsigned group, std::uint16_t* answers) {
  const unsigned head = simt::block().x;
  const unsigned record = simt::block().y;
  const RecurrentRows& records = batch.recurrent;
  const unsigned first = records.first_row[record];
  const unsigned end = records.first_row[record + 1];
  const HeadLayout layout = HeadLayout::of(shape, group);
  const unsigned key_dim = layout.key_dim;
  const unsigned value_dim = layout.value_dim;
  auto* const memory = simt::shared_memory<float>();
  auto* const tokens = simt::shared_memory<float>(layout.tokens_begin());
  auto* const outputs = simt::shared_memory<float>(layout.outputs_begin());
  const std::size_t channels = channels_of(shape);
  const std::size_t key_floats = shape.key_heads * key_dim;
  const std::size_t key_begin = head / (shape.value_heads / shape.key_heads) * key_dim;
  const std::size_t memory_begin = std::size_t{head} * key_dim * layout.columns;
  const std::size_t answer_head = answer_index(shape, head);

  const StatePointers begin =
      state_pointers(records, record, batch.positions[first], states.memories);
  const float* const before = (begin.before == nullptr ? begin.after : begin.before) + memory_begin;
  for_each_vector(layout, [&](unsigned in_state, unsigned on_chip) {
    simt::copy_async(memory + on_chip, before + in_state, begin.before != nullptr);
  });
  simt::commit_copies();
  for (unsigned row = first; row < end; row += group) {
    const unsigned count = end - row < group ? end - row : group;
    const unsigned token_floats = layout.token_floats();
    for (unsigned i = simt::thread(); i < count * token_floats; i += walking_threads) {
      const unsigned of = row + i / token_floats;
      const unsigned offset = i % token_floats;
      const float* const vectors = convolved + of * channels;
      const float* const buffer = projected + of * shape.row_floats;
      tokens[i] =
          offset < key_dim       ? vectors[key_begin + offset]
          : offset < 2 * key_dim ? vectors[key_floats + key_begin + offset - key_dim]
          : offset < 2 * key_dim + value_dim
              ? vectors[2 * key_floats + head * value_dim + offset - 2 * key_dim]
          : offset < token_floats - 2
              ? buffer[shape.gate_begin + head * value_dim + offset - 2 * key_dim - value_dim]
          : offset == token_floats - 2 ? buffer[shape.strength_begin + head]
                                       : buffer[shape.decay_begin + head];
    }
    simt::wait_copies<0>();
    simt::barrier();
    for (unsigned t = 0; t < count; ++t) {
      const float* const token = tokens + t * token_floats;
      float* const output = outputs + (row + t) % 2 * value_dim;
      apply_to_columns(layout, token, memory, output);
      simt::barrier();
      const float mean = squares_by_warp(output, value_dim) / static_cast<float>(value_dim);
      const float factor = 1.0f / sqrtf(mean + weights.epsilon);
      const float* const gate = token + 2 * key_dim + value_dim;
      std::uint16_t* const answer =
          answers + ((row + t) * shape.value_heads + answer_head) * shape.value_dim;
      for (unsigned d = simt::thread(); d < value_dim; d += walking_threads) {
        answer[d] = to_bfloat16(weights.norm[d] * (output[d] * factor) * silu(gate[d]));
      }
      const unsigned position = batch.positions[row + t];
      const bool is_last = row + t + 1 == end;
      if (!is_last && position % state_tokens + 1 != state_tokens) continue;
      float* const after =
          state_pointers(records, record, position, states.memories).after + memory_begin;
      for_each_vector(layout, [&](unsigned in_state, unsigned on_chip) {
        *reinterpret_cast<simt::Vector16*>(after + in_state) =
            *reinterpret_cast<const simt::Vector16*>(memory + on_chip);
      });
      if (!is_last) simt::barrier();  // the next token writes into the memory
    }
    if (row + count < end) simt::barrier();  // the next tokens take the place of these
  }
  keep_inputs(shape, batch, record, states.inputs, projected);
}

/// Tokens at a time for a batch, by what the host knows of it.
inline unsigned tokens_at_a_time_of(const TokenRows& batch) {
  return batch.recurrent.records == batch.rows ? 1 : tokens_at_a_time;
}

/// Queues a recurrent layer between its two matrices: two kernels. convolved: [rows, channels].
inline void launch_recurrence(simt::Stream& stream, const RecurrentShape& shape,
                              const RecurrentWeights& weights, const TokenRows& batch,
                              const RecurrentStates& states, float* projected, float* convolved,
                              std::uint16_t* answers) {
  const auto heads = static_cast<unsigned>(2 * shape.key_heads + shape.value_heads);
  simt::launch({.blocks = {(heads + convolving_warps - 1) / convolving_warps,
                           static_cast<unsigned>(batch.rows)},
                .threads = convolving_warps * simt::warp_lanes,
                .shared_bytes = convolving_warps * shape.key_dim * sizeof(float)},
               stream, convolve_heads, shape, weights, batch, states.inputs, projected, convolved);
  const unsigned group = tokens_at_a_time_of(batch);
  simt::launch({.blocks = {static_cast<unsigned>(shape.value_heads),
                           static_cast<unsigned>(batch.recurrent.records)},
                .threads = walking_threads,
                .shared_bytes = HeadLayout::of(shape, group).bytes()},
               stream, walk_head, shape, weights, batch, states, projected, convolved, group,
               answers);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
