#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"

// What becomes of the results of a product. Every thread of a warp calls the epilogue together, for
// one token and one output each (two sums if it is gated); `there` says whether it has any. One
// that `adds` can do so in two halves as well, so that many results are asked for before the first
// waits.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// outputs[token, output] = sum + bias[output]
struct StoreProduct {
  static constexpr bool gated = false;
  static constexpr bool adds = false;
  float* outputs;     // [rows, out]
  const float* bias;  // [out]; may be null

  TEMPERA_ON_DEVICE void operator()(const ProductPlan& plan, unsigned token, unsigned output,
                                    const float (&sums)[2], bool there) const {
    if (!there) return;
    outputs[std::size_t{token} * plan.out + output] =
        bias == nullptr ? sums[0] : sums[0] + bias[output];
  }
};

/// outputs[token, output] += sum
struct AddProduct {
  static constexpr bool gated = false;
  static constexpr bool adds = true;
  float* outputs;  // [rows, out]

  TEMPERA_ON_DEVICE void operator()(const ProductPlan& plan, unsigned token, unsigned output,
                                    const float (&sums)[2], bool there) const {
    if (there) outputs[std::size_t{token} * plan.out + output] += sums[0];
  }
  /// The first half: what is there before.
  TEMPERA_ON_DEVICE float before(const ProductPlan& plan, unsigned token, unsigned output) const {
    return outputs[std::size_t{token} * plan.out + output];
  }
  TEMPERA_ON_DEVICE void store(const ProductPlan& plan, unsigned token, unsigned output,
                               float sum) const {
    outputs[std::size_t{token} * plan.out + output] = sum;
  }
};

/// gated[token, output] = bf16(g / (1 + exp(−g)) · u)
struct GateProduct {
  static constexpr bool gated = true;
  static constexpr bool adds = false;
  std::uint16_t* gated_rows;  // [rows, out], bfloat16

  TEMPERA_ON_DEVICE void operator()(const ProductPlan& plan, unsigned token, unsigned output,
                                    const float (&sums)[2], bool there) const {
    const float silu = sums[0] / (1.0f + float32_exponential(-sums[0]));
    if (there) {
      gated_rows[std::size_t{token} * plan.out + output] = to_bfloat16(silu * sums[1]);
    }
  }
};

/// The larger, NaN if either is NaN.
TEMPERA_ON_DEVICE inline float larger_or_nan(float a, float b) {
  return a != a || b != b ? a + b : a > b ? a : b;
}

/// logits[token, output] = sum, and the largest of every tile of 16 outputs for the lottery:
/// -infinity if all are, NaN if one is NaN or +infinity.
struct StoreLogits {
  static constexpr bool gated = false;
  static constexpr bool adds = false;
  float* logits;       // [rows, out]
  float* tile_maxima;  // [rows, tiles of out]; may be null

  TEMPERA_ON_DEVICE void operator()(const ProductPlan& plan, unsigned token, unsigned output,
                                    const float (&sums)[2], bool there) const {
    if (there) logits[std::size_t{token} * plan.out + output] = sums[0];
    if (tile_maxima == nullptr) return;
    constexpr float largest_finite = 0x1.fffffep+127f;
    float largest = !there                     ? -__builtin_huge_valf()
                    : sums[0] > largest_finite ? sums[0] - sums[0]
                                               : sums[0];
    TEMPERA_UNROLL
    for (unsigned step = tile_outputs / 2; step > 0; step /= 2) {
      largest = larger_or_nan(largest, simt::shuffle_xor(largest, step));
    }
    if (there && output % tile_outputs == 0) {
      const unsigned tiles = (plan.out + tile_outputs - 1) / tile_outputs;
      tile_maxima[std::size_t{token} * tiles + output / tile_outputs] = largest;
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
