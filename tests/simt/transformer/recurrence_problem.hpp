// A recurrent layer of several records, and what the host's form of tensor-core makes of it. Which
// kernels it is held against, the sound ones or copies with a defect, each test says itself.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/kernels/recurrent_kernels.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/simt/transformer/contract.hpp"

namespace tempera::tests {

namespace simt = tempera::gpu::simt;

inline gpu::RecurrentShape shape_of(std::size_t key_heads, std::size_t value_heads,
                                    std::size_t key_dim, std::size_t value_dim, std::size_t taps) {
  const std::size_t answers = value_heads * value_dim;
  gpu::RecurrentShape shape{key_heads, value_heads, key_dim, value_dim, taps, 0, 0, 0, 0};
  shape.gate_begin = 2 * key_heads * key_dim + answers + 3;
  shape.strength_begin = shape.gate_begin + answers + 1;
  shape.decay_begin = shape.strength_begin + value_heads + 2;
  shape.row_floats = shape.decay_begin + value_heads + 1;
  return shape;
}

inline gpu::RecurrentShape tiled(gpu::RecurrentShape shape) {
  shape.tiles_answers = true;
  return shape;
}

/// Where a record is before its rows, and how many they are.
struct Stretch {
  std::uint32_t begin;
  std::uint32_t rows;
};

/// Records of one text up to their own beginnings, forks of each other: they share the checkpoints
/// before them and own the states after; their slots and states are in any order.
struct LayerProblem {
  gpu::RecurrentShape shape;
  gpu::StateShape layout;
  Floats convolution, rates, biases, norm;
  std::vector<std::uint32_t> positions, first_row, first_state, table;
  std::size_t state_floats = 0;
  Floats memory;     // of all states
  Floats projected;  // [rows, row_floats]

  LayerProblem(const gpu::RecurrentShape& of, std::vector<Stretch> records, unsigned seed)
      : shape(of), layout{2,          gpu::channels_of(of), of.taps, of.value_heads,
                          of.key_dim, of.value_dim} {
    std::mt19937 random(seed);
    std::shuffle(records.begin(), records.end(), random);
    convolution = random_floats(shape.taps * layout.channels, 0.5f, random);
    biases = random_floats(shape.value_heads, 1.0f, random);
    norm = random_floats(shape.value_dim, 1.0f, random);
    for (std::size_t head = 0; head < shape.value_heads; ++head) {
      rates.push_back(0.01f + 0.07f * static_cast<float>(head));
    }
    constexpr std::uint32_t shared = 4;
    std::uint32_t states = shared;
    for (const auto& [begin, rows] : records) {
      states += (begin + rows + 63) / 64 - begin / 64;
    }
    std::vector<std::uint32_t> free(states);
    std::iota(free.begin(), free.end(), 0U);
    std::shuffle(free.begin(), free.end(), random);
    const std::vector<std::uint32_t> checkpoints(free.end() - shared, free.end());
    free.resize(states - shared);
    state_floats = layout.layout().bytes() / sizeof(float);
    memory = random_floats(states * state_floats, 1.0f, random);
    for (const auto& [begin, rows] : records) {
      first_row.push_back(static_cast<std::uint32_t>(positions.size()));
      first_state.push_back(static_cast<std::uint32_t>(table.size()));
      for (std::uint32_t state = 0; state < (begin + rows + 63) / 64; ++state) {
        const bool is_checkpoint = state < begin / 64;
        table.push_back(is_checkpoint ? checkpoints[state] : free.back());
        if (is_checkpoint) continue;
        free.pop_back();
        // What nobody has computed yet must not be seen.
        if (state * 64 >= begin) forget(table.back());
      }
      for (std::uint32_t row = 0; row < rows; ++row) positions.push_back(begin + row);
    }
    first_row.push_back(static_cast<std::uint32_t>(positions.size()));
    clear_columns_that_are_none();
    projected = random_floats(positions.size() * shape.row_floats, 1.0f, random);
  }

  /// Leaves no number in a state.
  void forget(std::uint32_t state) {
    const gpu::PageMemory states = memory_in(memory);
    for (std::size_t layer = 0; layer < states.layout.arrays(); ++layer) {
      const gpu::PagePart part = gpu::part_of_array(states, layer);
      std::fill_n(gpu::part_of_page<float>(part, state), part.stride / sizeof(float),
                  std::numeric_limits<float>::quiet_NaN());
    }
  }
  /// Leaves them as any walk from an empty state does.
  void clear_columns_that_are_none() {
    const std::size_t blocks = (shape.value_dim + 15) / 16;
    const gpu::RecurrentStates states = states_in(memory);
    for (std::size_t state = 0; state < memory.size() / state_floats; ++state) {
      auto* const floats = gpu::part_of_page<float>(states.memories, state);
      for (std::size_t i = 0; i < shape.value_heads * blocks * shape.key_dim * 16; ++i) {
        const std::size_t column = i / (shape.key_dim * 16) % blocks * 16 + i % 16;
        if (column >= shape.value_dim) floats[i] = 0.0f;
      }
    }
  }

  gpu::RecurrentStates states_in(Floats& of) const {
    const gpu::PageMemory pages = memory_in(of);
    return {layout.inputs(pages, 1), layout.memories(pages, 1)};
  }
  gpu::PageMemory memory_in(Floats& of) const {
    return gpu::pages_at(of.data(), of.size() / state_floats, layout.layout());
  }
  gpu::RecurrentWeights weights() const {
    return {convolution.data(), rates.data(), biases.data(), norm.data(), 1e-5f};
  }
  gpu::TokenRows batch(Floats& of) const {
    gpu::TokenRows rows{positions.size(), 400, nullptr, positions.data(), nullptr, nullptr};
    rows.recurrent = {first_state.size(), first_row.data(), first_state.data(), table.data(),
                      memory_in(of)};
    return rows;
  }

  /// Answers, and after them every state.
  template <class Launch>
  std::vector<std::uint32_t> bits(const Launch& launch) const {
    Floats states = memory;
    Floats rows = projected;
    Bfloat16s answers(positions.size() * shape.value_heads * shape.value_dim, 0x7FC0);
    launch(batch(states), states_in(states), rows.data(), answers.data());
    std::vector<std::uint32_t> all(answers.begin(), answers.end());
    for (const float value : states) all.push_back(std::bit_cast<std::uint32_t>(value));
    return all;
  }
  std::vector<std::uint32_t> by_host() const {
    return bits([&](const gpu::TokenRows& rows, const gpu::RecurrentStates& states, float* buffer,
                    std::uint16_t* answers) {
      gpu::default_kernels(gpu::Arithmetic::tensor_core)
          .recur(shape, weights(), rows, states, buffer, {nullptr, answers});
    });
  }
  template <class Recurrence>
  std::vector<std::uint32_t> by_kernels(simt::Stream& stream, const Recurrence& launch) const {
    Floats convolved(positions.size() * layout.channels, std::numeric_limits<float>::quiet_NaN());
    return bits([&](const gpu::TokenRows& rows, const gpu::RecurrentStates& states, float* buffer,
                    std::uint16_t* answers) {
      launch(stream, shape, weights(), rows, states, buffer, convolved.data(), answers);
    });
  }
};

/// That a record begins, goes on, is before and after a checkpoint, and crosses one or two.
inline const std::vector<Stretch> stretches{{0, 1},  {63, 2}, {64, 1},   {0, 70}, {128, 3},
                                            {65, 7}, {1, 2},  {60, 133}, {127, 1}};

}  // namespace tempera::tests
