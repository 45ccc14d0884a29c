#pragma once

#include "gpu/llm/transformer/kernels/host/pair_weights.hpp"

// Sums of pairs of few rows with quantised weights, each of which is rounded and used at once.
// Where pairs are parted, that takes neither the pairing nor a turn through memory.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// totals[row, 0 .. 15] += the sums of add_pair_tile with the weights that a reader gives, for the
/// inputs 0 .. in - 1. before: inputs of this item that other blocks have had.
template <std::size_t Rows, class Inputs, class Reader>
inline void add_pairs_of_reader(const Inputs& inputs, const Reader& reader, std::size_t in,
                                const WeightsAhead& next, std::size_t before, float* totals,
                                std::size_t stride) {
  using Sums = FloatRegister[Rows][block_registers];
  for (std::size_t begin = 0; begin < in; begin += pair_segment_inputs) {
    const std::byte* const ahead =
        next.after(before + begin, reinterpret_cast<const std::byte*>(totals));
    Sums even;
    Sums odd;
    for_each_sum<Rows, block_registers>([&](auto row, auto part) {
      even[row][part] = broadcast_register(0.0f);
      odd[row][part] = broadcast_register(0.0f);
    });
    FloatLanes<lanes> earlier = broadcast<lanes>(0.0f);
    reader(
        begin, begin + pair_segment_inputs,
        [&](std::size_t i, const FloatLanes<lanes>& weight) __attribute__((always_inline)) {
          if (i % 4 == 0) __builtin_prefetch(ahead + (i - begin) * 16, 0, 2);
          FloatLanes<lanes> rounded;
          for_each_index<block_registers>([&](auto part) {
            rounded.parts[part] = rounded_to_bfloat16<Reader::type>(weight.parts[part]);
          });
          if (i % pair_inputs == 0) {
            earlier = rounded;
            return;
          }
          const auto add = [&](Sums & sums) __attribute__((always_inline)) {
            for_each_index<Rows>([&](auto row) __attribute__((always_inline)) {
              const FloatRegister first = inputs.template number<0>(row, place_of_input(i));
              const FloatRegister second = inputs.template number<1>(row, place_of_input(i));
              for_each_index<block_registers>([&](auto part) __attribute__((always_inline)) {
                sums[row][part] = fused_multiply_add_register(
                    first, earlier.parts[part],
                    fused_multiply_add_register(second, rounded.parts[part], sums[row][part]));
              });
            });
          };
          if (i % (2 * pair_inputs) < pair_inputs) {
            add(even);
          } else {
            add(odd);
          }
        });
    for_each_sum<Rows, block_registers>([&](auto row, auto part) {
      auto* const total =
          reinterpret_cast<FloatsInMemory*>(totals + row * stride + part * register_lanes);
      *total = flushed_sum_register(*total, flushed_sum_register(even[row][part], odd[row][part]));
    });
  }
}

/// Does the same for one row or two, while SubnormalsAreZero: a function of its own, so that
/// nothing is computed before or after.
template <class Inputs, class Reader>
[[gnu::noipa]] void add_pairs_as_read(std::size_t rows, const Inputs& inputs, const Reader& reader,
                                      std::size_t in, const WeightsAhead& next, std::size_t before,
                                      float* totals, std::size_t stride) {
  static_assert(QuantisedPairs::direct_rows == 2);
  if (rows == 1) {
    add_pairs_of_reader<1>(inputs, reader, in, next, before, totals, stride);
  } else {
    add_pairs_of_reader<2>(inputs, reader, in, next, before, totals, stride);
  }
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
