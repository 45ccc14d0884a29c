#pragma once

#include "gpu/llm/transformer/kernels/cuda/product_epilogues.cuh"
#include "gpu/llm/transformer/kernels/cuda/whole_row.cuh"
#include "gpu/llm/transformer/weights/whole_words.hpp"

// Products of rows of whole numbers. A segment's sum is exact, so that the warps of a block share
// its inputs as they like and add in shared memory in any order; segments, whose results are
// floats, are added in ascending order.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned whole_product_warps = 8;
constexpr unsigned whole_product_threads = whole_product_warps * simt::warp_lanes;
/// Rows of a block, which reads each weight once for all of them.
constexpr unsigned whole_product_rows = 8;

/// The inputs of a product as whole numbers, two in a word, and 2^-e of their segments.
struct WholeInputRows {
  std::uint32_t* words;  // [rows, pairs]; the last number is 0 if there is an odd number
  float* steps;          // [rows, segments]
  unsigned in;

  TEMPERA_HOST_DEVICE unsigned pairs() const { return (in + 1) / 2; }
  TEMPERA_HOST_DEVICE unsigned segments() const {
    return static_cast<unsigned>(whole_segments(in));
  }
};

/// Makes whole numbers of rows, a warp of each segment. Grid: (segments / 8 rounded up, rows).
/// inputs: [rows, in].
TEMPERA_KERNEL(whole_product_threads)
quantise_whole_rows(const float* inputs, const WholeInputRows rows) {
  const unsigned row = simt::block().y;
  const unsigned segment = simt::block().x * whole_product_warps + simt::warp();
  if (segment >= rows.segments()) return;
  const auto begin = segment * static_cast<unsigned>(whole_segment);
  const unsigned left = rows.in - begin;
  const unsigned size = left < whole_segment ? left : static_cast<unsigned>(whole_segment);
  const float* const x = inputs + std::size_t{row} * rows.in + begin;
  const WholeRow whole = whole_row_by(LanesOfRow(), x, size, input_squares);
  std::uint32_t* const words = rows.words + std::size_t{row} * rows.pairs() + begin / 2;
  for (unsigned i = 2 * simt::lane(); i < size; i += 2 * simt::warp_lanes) {
    words[i / 2] =
        word_of_pair(number_of_row(whole, x[i]), i + 1 < size ? number_of_row(whole, x[i + 1]) : 0);
  }
  if (simt::lane() == 0) rows.steps[std::size_t{row} * rows.segments() + segment] = whole.step();
}

/// gated[token, output] = g / (1 + exp(−g)) · u
struct GateWholeProduct {
  static constexpr bool gated = true;
  float* gated_rows;  // [rows, out]

  TEMPERA_ON_DEVICE void operator()(const ProductPlan& plan, unsigned token, unsigned output,
                                    const float (&sums)[2], bool there) const {
    const float silu = sums[0] / (1.0f + float32_exponential(-sums[0]));
    if (there) gated_rows[std::size_t{token} * plan.out + output] = silu * sums[1];
  }
};

/// The factors of a product. The gate's outputs and those beside them, up, have as many tiles.
struct WholeOperands {
  WholeWeights weights;  // of the gate, if there is one
  WholeWeights up;
  WholeInputRows inputs;
  unsigned rows;
  unsigned out;  // outputs that are stored
};

/// Shared memory of a block: the sums of every segment.
template <class Epilogue>
constexpr std::size_t whole_product_bytes(unsigned segments) {
  return (Epilogue::gated ? 2 : 1) * sizeof(std::uint32_t) * segments * whole_product_rows * lanes;
}

/// Grid: (tiles of 16 outputs, rows / 8 rounded up). Shared memory: whole_product_bytes.
template <class Epilogue>
TEMPERA_KERNEL(whole_product_threads)
multiply_whole_rows(const WholeOperands operands, const Epilogue epilogue) {
  constexpr unsigned matrices = Epilogue::gated ? 2 : 1;
  constexpr unsigned sums_of_segment = whole_product_rows * static_cast<unsigned>(lanes);
  const WholeInputRows& inputs = operands.inputs;
  const unsigned segments = inputs.segments();
  const unsigned first_row = simt::block().y * whole_product_rows;
  const unsigned left = operands.rows - first_row;
  const unsigned rows = left < whole_product_rows ? left : whole_product_rows;
  auto* const sums = simt::shared_memory<std::uint32_t>();  // [matrices, segments, rows, lanes]
  for (unsigned i = simt::thread(); i < matrices * segments * sums_of_segment;
       i += whole_product_threads) {
    sums[i] = 0;
  }
  simt::barrier();

  const unsigned lane = simt::lane() % static_cast<unsigned>(lanes);
  constexpr auto warp_pairs = simt::warp_lanes / static_cast<unsigned>(lanes);
  const unsigned own_pair = simt::warp() * warp_pairs + simt::lane() / static_cast<unsigned>(lanes);
  const auto first_output = simt::block().x * static_cast<unsigned>(lanes);
  TEMPERA_NO_UNROLL
  for (unsigned each = 0; each < matrices * segments; ++each) {
    const unsigned segment = each % segments;
    const auto begin = segment * static_cast<unsigned>(whole_segment_pairs);
    const unsigned beyond = inputs.pairs() - begin;
    const unsigned pairs =
        beyond < whole_segment_pairs ? beyond : static_cast<unsigned>(whole_segment_pairs);
    const std::uint32_t* const weights = each < segments
                                             ? operands.weights.pairs(first_output, begin)
                                             : operands.up.pairs(first_output, begin);
    const std::uint32_t* const words =
        inputs.words + std::size_t{first_row} * inputs.pairs() + begin;
    std::uint32_t own[whole_product_rows] = {};
    TEMPERA_NO_UNROLL
    for (unsigned pair = own_pair; pair < pairs; pair += whole_product_warps * warp_pairs) {
      const std::uint32_t weight = weights[pair * lanes + lane];
      TEMPERA_UNROLL
      for (unsigned row = 0; row < whole_product_rows; ++row) {
        if (row < rows)
          own[row] += product_of_pairs(words[std::size_t{row} * inputs.pairs() + pair], weight);
      }
    }
    TEMPERA_UNROLL
    for (unsigned row = 0; row < whole_product_rows; ++row) {
      if (row < rows)
        simt::atomic_add(sums + each * sums_of_segment + row * lanes + lane, own[row]);
    }
  }
  simt::barrier();

  // Whole warps, for what the epilogue does together: two rows each.
  const unsigned row = simt::thread() / static_cast<unsigned>(lanes);
  if (simt::warp() * warp_pairs >= rows) return;
  const bool there_is_row = row < rows;
  const unsigned token = first_row + (there_is_row ? row : 0);
  const float* const steps = inputs.steps + std::size_t{token} * segments;
  float products[2] = {0.0f, 0.0f};
  TEMPERA_UNROLL
  for (unsigned matrix = 0; matrix < matrices; ++matrix) {
    const float* const weight_steps =
        (matrix == 0 ? operands.weights : operands.up).steps(first_output, 0);
    TEMPERA_NO_UNROLL
    for (unsigned segment = 0; segment < segments; ++segment) {
      const std::uint32_t sum =
          sums[(matrix * segments + segment) * sums_of_segment + row * lanes + lane];
      const float of_segment = static_cast<float>(static_cast<std::int32_t>(sum)) *
                               (steps[segment] * weight_steps[segment * lanes + lane]);
      products[matrix] = segment == 0 ? of_segment : products[matrix] + of_segment;
    }
  }
  ProductPlan plan{};
  plan.out = operands.out;
  epilogue(plan, token, first_output + lane, products,
           there_is_row && first_output + lane < operands.out);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
