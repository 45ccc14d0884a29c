#pragma once

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/host/quantised_lanes.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_step.hpp"

// The weights of the arithmetics of tensor cores, a segment of a tile at a time, and one by one.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Steps whose chain begins at 0: segments of 512 inputs.
constexpr std::size_t segment_steps = 32;

/// Room for a segment of a tile, if it has to be made.
struct alignas(64) SegmentRoom {
  std::uint32_t words[segment_steps * fragment_words];
};

/// Rounded when they were packed. `ChipStep`: the steps that a product of them takes.
template <class ChipStep>
struct FragmentTiles {
  using Step = ChipStep;
  using Order = InFragments;
  /// Rows of an item: to read them again for more costs little.
  static constexpr std::size_t item_rows = 8;

  const std::uint32_t* fragments;
  std::size_t in;

  float operator()(std::size_t output, std::size_t input) const {
    return from_bfloat16(weight_at(fragments, fragment_offset(in, output, input)));
  }
  /// Those of the outputs from `output` on, which is a multiple of 16.
  FragmentTiles from(std::size_t output) const { return {first_step(output), in}; }
  /// The steps begin … of the tile that has the output, in Order.
  const std::uint32_t* segment(std::size_t output, std::size_t begin, std::size_t /*end*/,
                               SegmentRoom& /*room*/) const {
    return first_step(output) + begin * fragment_words;
  }

 private:
  const std::uint32_t* first_step(std::size_t output) const {
    return fragments + output / fragment_outputs * steps_of(in) * fragment_words;
  }
};

/// to_bfloat16 in the upper half of every lane, what is below not yet cut off; of finite numbers.
inline BitsRegister rounded_to_bfloat16(FloatRegister values) {
  const auto bits = reinterpret_cast<BitsRegister>(values);
  return bits + 0x7FFFU + ((bits >> 16) & 1U);
}

/// Rounded when they are used: once for all rows of an item.
template <class ChipStep>
struct QuantisedTiles {
  using Step = ChipStep;
  using Order = InPairs;
  static constexpr std::size_t item_rows = 64;

  QuantisedWeights weights;

  float operator()(std::size_t output, std::size_t input) const {
    return from_bfloat16(to_bfloat16(weights(output, input)));
  }
  QuantisedTiles from(std::size_t output) const { return {weights.from(output)}; }
  const std::uint32_t* segment(std::size_t output, std::size_t begin, std::size_t end,
                               SegmentRoom& room) const {
    const std::size_t first = begin * step_products;
    with_block_reader<1>(weights, output, [&](const auto& reader) {
      reader(first, end * step_products, [&](std::size_t i, const FloatLanes<lanes>& weight) {
        std::uint32_t* const words = room.words + (i - first) / 2 * fragment_outputs;
        for (std::size_t part = 0; part < FloatLanes<lanes>::registers; ++part) {
          const BitsRegister rounded = rounded_to_bfloat16(weight.parts[part]);
          auto* const target = reinterpret_cast<WordsInMemory*>(words + part * register_lanes);
          // The earlier input of a pair comes first and is in the lower half.
          *target = i % 2 == 0 ? rounded >> 16 : *target | (rounded & 0xFFFF0000U);
        }
      });
    });
    return room.words;
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
