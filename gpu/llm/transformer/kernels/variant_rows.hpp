#pragma once

#include "gpu/llm/transformer/kernels/recurrent_kernels.hpp"
#include "gpu/llm/transformer/kernels/row_kernels.hpp"
#include "gpu/llm/transformer/kernels/variant_kernels.hpp"

// The steps of VariantKernels that are one loop over a row: call operator()(row). Squares: how the
// arithmetic sums the squares of a row; Stored: as in recurrent_kernels.hpp.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// x · Φ(x), Φ by its tanh: gelu(x) = x (1 + tanh u) / 2 = x / (1 + exp(-2u)).
TEMPERA_HOST_DEVICE inline float tanh_gelu(float x) {
  constexpr float twice_root = 0x1.988454p+0f;  // 2 sqrt(2 / π)
  const float u = fused_multiply_add(0.044715f * (x * x), x, x);
  return x / (1.0f + float32_exponential(-(twice_root * u)));
}

/// Squares in float32, in so many partial sums.
template <std::size_t Sums>
struct PartialSquares {
  TEMPERA_HOST_DEVICE static float mean_of_squares(const float* row, std::size_t size) {
    return sum_of_squares<Sums>(row, size) / static_cast<float>(size);
  }
};

/// The factor that normalises a row.
template <class Squares>
TEMPERA_HOST_DEVICE inline float norm_factor(const float* row, std::size_t size, float epsilon) {
  return 1.0f / sqrtf(Squares::mean_of_squares(row, size) + epsilon);
}

struct ScaleRow {
  float* values;  // [rows, size]
  std::size_t size;
  float factor;

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    for (std::size_t i = 0; i < size; ++i) values[row * size + i] *= factor;
  }
};

template <class Stored>
struct TakeRow {
  const float* states;  // [rows, size]
  std::size_t size;
  Stored* inputs;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    for (std::size_t i = row * size; i < (row + 1) * size; ++i) write_input(states[i], inputs[i]);
  }
};

template <class Stored>
struct GateByGelu {
  const float* gate_up;  // [rows, row_floats]
  std::size_t row_floats;
  std::size_t up_begin;
  std::size_t out;
  Stored* gated;  // [rows, out]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const float* gate = gate_up + row * row_floats;
    for (std::size_t o = 0; o < out; ++o) {
      write_input(tanh_gelu(gate[o]) * gate[up_begin + o], gated[row * out + o]);
    }
  }
};

/// (up + 1) · gate · sigmoid(alpha · gate), both clamped. A NaN stays one.
TEMPERA_HOST_DEVICE inline float clamped_product(const ClampedGate& clamped, float gate, float up) {
  const float least = -clamped.limit;
  gate = gate > clamped.limit ? clamped.limit : gate;
  up = up > clamped.limit ? clamped.limit : up;
  up = up < least ? least : up;
  return (up + 1.0f) * (gate / (1.0f + float32_exponential(-(clamped.alpha * gate))));
}

template <class Stored>
struct GateByClamped {
  ClampedGate clamped;
  const float* gate_up;  // [rows, row_floats]
  std::size_t row_floats;
  std::size_t up_begin;
  std::size_t out;
  Stored* gated;  // [rows, out]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const float* const gate = gate_up + row * row_floats;
    const float* const up = gate + up_begin;
    for (std::size_t o = 0; o < out; ++o)
      write_input(clamped_product(clamped, gate[o], up[o]), gated[row * out + o]);
  }
};

template <class Squares>
struct NormalizePart {
  float* part;  // [rows, row_floats]
  std::size_t row_floats;
  std::size_t size;
  const float* weight;  // [size]
  float epsilon;

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    float* const x = part + row * row_floats;
    const float factor = norm_factor<Squares>(x, size, epsilon);
    for (std::size_t i = 0; i < size; ++i) x[i] = weight[i] * (x[i] * factor);
  }
};

template <class Squares>
struct AddBranch {
  const float* branch;  // [rows, size]
  BranchEnd end;
  std::size_t size;
  float* states;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const float* const x = branch + row * size;
    float* const target = states + row * size;
    if (end.norm == nullptr) {
      for (std::size_t i = 0; i < size; ++i) {
        target[i] = fused_multiply_add(x[i], end.factor, target[i]);
      }
      return;
    }
    const float factor = norm_factor<Squares>(x, size, end.epsilon);
    for (std::size_t i = 0; i < size; ++i) {
      target[i] = fused_multiply_add(end.norm[i] * (x[i] * factor), end.factor, target[i]);
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
