#pragma once

#include <cstddef>

#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// How far a layer's attention reaches, and what its scores are multiplied by.
struct AttentionReach {
  std::size_t window = 0;  ///< positions up to the row's own that it sees; 0: all of them
  float scale = 0.0F;      ///< 0: 1 / sqrt(head_dim)
};

/// What becomes of the output of one of a layer's two blocks before it is added to the stream.
struct BranchEnd {
  const float* norm;  ///< [size], the weight of an RMSNorm; null: there is none
  float epsilon;
  float factor;  ///< what is added is multiplied by it
};

/// The steps of layers that are not those of run_dense_layers, in the forms of Kernels that have
/// them (Kernels::variants). All is float32 but for what enters a product; sums of squares are the
/// arithmetic's own.
class VariantKernels {
 public:
  virtual ~VariantKernels();

  /// Kernels::attend within a reach: the softmax is over the positions that the row sees.
  virtual void attend_within(const AttentionShape& shape, const AttentionReach& reach,
                             const float* query_key_value, const TokenRows& batch,
                             const PagePart& keys, const PagePart& values,
                             const ProductInputs& attended) const = 0;

  /// values[i] *= factor. values: [rows, size].
  virtual void scale(float* values, std::size_t rows, std::size_t size, float factor) const = 0;

  /// Rows that enter a product as they are. states: [rows, size].
  virtual void take(const float* states, std::size_t rows, std::size_t size,
                    const ProductInputs& inputs) const = 0;

  /// gated[row, o] = gelu(gate_up[row, o]) · gate_up[row, up_begin + o], with
  /// gelu(x) = x / (1 + exp(-2u)), u = sqrt(2 / π) (x + 0.044715 x³).
  /// gate_up: [rows, row_floats]; gated: [rows, out].
  virtual void gate_by_gelu(const float* gate_up, std::size_t rows, std::size_t row_floats,
                            std::size_t up_begin, std::size_t out,
                            const ProductInputs& gated) const = 0;

  /// x = weight · x / sqrt(mean(x^2) + epsilon) of the first `size` floats of every row.
  /// part: [rows, row_floats], from the part's first element on.
  virtual void normalize_part(float* part, std::size_t rows, std::size_t row_floats,
                              std::size_t size, const float* weight, float epsilon) const = 0;

  /// states[row] += factor · (the branch, normalised unless end.norm is null).
  /// branch, states: [rows, size].
  virtual void add_branch(const float* branch, const BranchEnd& end, std::size_t rows,
                          std::size_t size, float* states) const = 0;
};

}  // namespace tempera::gpu
