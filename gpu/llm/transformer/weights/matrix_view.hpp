#pragma once

#include <cstddef>
#include <cstdint>

namespace tempera::gpu {

/// How many output features are side by side in a packed matrix.
constexpr std::size_t lanes = 16;

/// The weights of a linear map R^in -> R^out as kernels read them. All but one of the pointers are
/// null; `blocks` goes with `quantised`.
///
/// Under `float32`, as they are stored: packed [out / lanes, in, lanes], the weight of (output o,
/// input i) at ((o / lanes) * in + i) * lanes + o % lanes.
///
/// Under an arithmetic of tensor cores, rounded to bfloat16, as fragments: [out / 16, steps, 32,
/// 4], steps being ceil(in / 16); see fragment_offset.
///
/// Under `bfloat16-pairs`, rounded to bfloat16, as words of two inputs of one output: [out / 16,
/// pairs, 16], the pairs filled up to whole segments; see pair_word.
///
/// Under `integer`, as whole numbers of 16 bits in such words, each block of 16 outputs after the
/// steps of its segments; see whole_words.hpp.
///
/// Under each other one, if any of them is quantised, in blocks, see quantised_block.hpp; `in` is
/// then a multiple of 32.
struct MatrixView {
  std::size_t in;
  std::size_t out;  // with the padding: a multiple of lanes
  const float* float32;
  const std::uint16_t* bfloat16;
  const std::uint32_t* fragments;  // each two inputs of one output, the earlier in the lower half
  const std::byte* quantised = nullptr;
  const std::uint64_t* blocks = nullptr;  // [out / lanes], as block_entry makes them
  const std::uint32_t* pairs = nullptr;   // each two inputs, the earlier in the lower half
};

}  // namespace tempera::gpu
