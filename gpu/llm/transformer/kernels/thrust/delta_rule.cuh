#pragma once

#include "gpu/llm/transformer/kernels/recurrent_kernels.hpp"

namespace tempera::gpu::readable {

/// The gated delta rule (Yang et al. 2024) of one column of one memory, token after token: the
/// memory decays, what it answers to the key is taken from the value, the rest is written under the
/// key, and the query is asked. An item is a column of a value head of a record.
struct ApplyDeltaRule {
  RecurrentShape shape;
  TokenRows batch;
  PagePart memories;  // as StateShape lays them out
  float* projected;   // [rows, shape.row_floats]; the values become the outputs

  TEMPERA_HOST_DEVICE std::size_t columns() const { return shape.value_heads * shape.value_dim; }
  TEMPERA_HOST_DEVICE std::size_t items() const { return batch.recurrent.records * columns(); }

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t record = item / columns();
    const std::size_t column = item % columns();
    const std::size_t head = column / shape.value_dim;
    const std::size_t lane = column % shape.value_dim;
    const std::size_t blocks = (shape.value_dim + state_lanes - 1) / state_lanes;
    const std::size_t begin =
        (head * blocks + lane / state_lanes) * shape.key_dim * state_lanes + lane % state_lanes;
    const std::size_t key_head = head / (shape.value_heads / shape.key_heads);
    const std::size_t key_floats = shape.key_heads * shape.key_dim;
    const RecurrentRows& rows = batch.recurrent;
    for (std::size_t row = rows.first_row[record]; row < rows.first_row[record + 1]; ++row) {
      const auto [before, after] = state_pointers(rows, record, batch.positions[row], memories);
      float* buffer = projected + row * shape.row_floats;
      const float* query = buffer + key_head * shape.key_dim;
      const float* key = query + key_floats;
      float& value = buffer[2 * key_floats + column];
      const float decay = buffer[shape.decay_begin + head];
      float answer = 0.0f;
      for (std::size_t k = 0; k < shape.key_dim; ++k) {
        const float old = before == nullptr ? 0.0f : before[begin + k * state_lanes];
        answer = fused_multiply_add(old * decay, key[k], answer);
      }
      const float written = (value - answer) * buffer[shape.strength_begin + head];
      float output = 0.0f;
      for (std::size_t k = 0; k < shape.key_dim; ++k) {
        const float old = before == nullptr ? 0.0f : before[begin + k * state_lanes];
        const float now = fused_multiply_add(key[k], written, old * decay);
        after[begin + k * state_lanes] = now;
        output = fused_multiply_add(now, query[k], output);
      }
      value = output;
    }
  }
};

}  // namespace tempera::gpu::readable
