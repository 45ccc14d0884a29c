#pragma once

#include "gpu/device/float_lanes.hpp"
#include "gpu/llm/transformer/kernels/recurrent_kernels.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// An item is a block of columns of one value head's memory of one record; a vector runs across the
/// columns, none of which knows of another.
struct ApplyDeltaRule {
  RecurrentShape shape;
  TokenRows batch;
  PagePart memories;  // as StateShape lays them out
  float* projected;   // [rows, shape.row_floats]; the values become the outputs

  std::size_t blocks() const { return (shape.value_dim + state_lanes - 1) / state_lanes; }
  std::size_t items() const { return batch.recurrent.records * shape.value_heads * blocks(); }

  void operator()(std::size_t item) const {
    const std::size_t block = item % blocks();
    const std::size_t head = item / blocks() % shape.value_heads;
    const std::size_t record = item / blocks() / shape.value_heads;
    const std::size_t begin = (head * blocks() + block) * shape.key_dim * state_lanes;
    const std::size_t key_floats = shape.key_heads * shape.key_dim;
    const std::size_t key_begin = head / (shape.value_heads / shape.key_heads) * shape.key_dim;
    const std::size_t left = shape.value_dim - block * state_lanes;
    const std::size_t columns = left < state_lanes ? left : state_lanes;
    const RecurrentRows& rows = batch.recurrent;
    for (std::size_t row = rows.first_row[record]; row < rows.first_row[record + 1]; ++row) {
      const auto [before, after] = state_pointers(rows, record, batch.positions[row], memories);
      if (before == nullptr) {
        for (std::size_t i = 0; i < shape.key_dim * state_lanes; ++i) after[begin + i] = 0.0f;
      }
      float* buffer = projected + row * shape.row_floats;
      step(buffer + key_begin, buffer + key_floats + key_begin, buffer[shape.strength_begin + head],
           buffer[shape.decay_begin + head], (before == nullptr ? after : before) + begin,
           after + begin, columns,
           buffer + 2 * key_floats + head * shape.value_dim + block * state_lanes);
    }
  }

  /// One token. before and after: [key_dim, state_lanes], perhaps the same; values: [columns].
  void step(const float* query, const float* key, float strength, float decay, const float* before,
            float* after, std::size_t columns, float* values) const {
    const auto decays = broadcast<state_lanes>(decay);
    auto answers = broadcast<state_lanes>(0.0f);
    for (std::size_t k = 0; k < shape.key_dim; ++k) {
      answers = fused_multiply_add(load<state_lanes>(before + k * state_lanes) * decays,
                                   broadcast<state_lanes>(key[k]), answers);
    }
    float written[state_lanes];
    store(answers, written);
    // Columns that are none have no value, and stay 0.
    for (std::size_t column = 0; column < state_lanes; ++column) {
      written[column] = column < columns ? (values[column] - written[column]) * strength : 0.0f;
    }
    const auto new_values = load<state_lanes>(written);
    auto outputs = broadcast<state_lanes>(0.0f);
    for (std::size_t k = 0; k < shape.key_dim; ++k) {
      const auto now = fused_multiply_add(broadcast<state_lanes>(key[k]), new_values,
                                          load<state_lanes>(before + k * state_lanes) * decays);
      store(now, after + k * state_lanes);
      outputs = fused_multiply_add(now, broadcast<state_lanes>(query[k]), outputs);
    }
    float results[state_lanes];
    store(outputs, results);
    for (std::size_t column = 0; column < columns; ++column) values[column] = results[column];
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
