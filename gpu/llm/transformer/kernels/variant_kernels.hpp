#pragma once

#include <cstddef>

#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// How far a layer's attention reaches, what its scores are multiplied by, and what else weighs
/// beside them.
struct AttentionReach {
  std::size_t window = 0;  ///< positions up to the row's own that it sees; 0: all of them
  float scale = 0.0F;      ///< 0: 1 / sqrt(head_dim)
  /// [heads], a logit of each head that weighs in its softmax and has no value; null: none.
  const float* sinks = nullptr;
};

/// How the output of one of a layer's two blocks is added to the stream.
struct BranchEnd {
  const float* norm;  ///< [size], the weight of an RMSNorm; null: there is none
  float epsilon;
  float factor;  ///< what is added is multiplied by it
};

/// Which experts a row goes through, by the logits that a router gives it.
struct ExpertChoice {
  std::size_t experts;           ///< those that are chosen from
  std::size_t chosen;            ///< so many of them for each row
  bool renormalises;             ///< the weights of the chosen ones are divided by their sum
  std::size_t shared_begin = 0;  ///< the output that weighs an expert of all rows; 0: none
  const float* bias = nullptr;   ///< [outputs of the router], added to the logits; null: none

  /// Experts of a row.
  constexpr std::size_t slots() const { return chosen + (shared_begin == 0 ? 0 : 1); }
};

/// A SwiGLU that is clamped: gated = (up + 1) · gate · sigmoid(alpha · gate), with gate at most
/// `limit`, and up at most that far from 0.
struct ClampedGate {
  float alpha;
  float limit;
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

  /// The same with the gate of `clamped`.
  virtual void gate_by_clamped(const ClampedGate& clamped, const float* gate_up, std::size_t rows,
                               std::size_t row_floats, std::size_t up_begin, std::size_t out,
                               const ProductInputs& gated) const = 0;

  /// x = weight · x / sqrt(mean(x^2) + epsilon) of the first `size` floats of every row.
  /// part: [rows, row_floats], from the part's first element on.
  virtual void normalize_part(float* part, std::size_t rows, std::size_t row_floats,
                              std::size_t size, const float* weight, float epsilon) const = 0;

  /// states[row] += factor · (the branch, normalised unless end.norm is null).
  /// branch, states: [rows, size].
  virtual void add_branch(const float* branch, const BranchEnd& end, std::size_t rows,
                          std::size_t size, float* states) const = 0;

  /// Chooses the experts of every row: of l = router · inputs[row] + bias, summed as `float32` sums
  /// a product, the `chosen` largest among the first `experts`, of equal ones the lower index.
  /// experts[row] are they, ascending, and weights[row, j] = exp(l_j - max l) / Σ_e exp(l_e - max
  /// l) for each, over all that are chosen from; then, if there is a shared expert, its number,
  /// which is `experts`, and sigmoid(l[shared_begin]). The router is packed for `float32`. inputs:
  /// [rows, router.in]; logits: room for [rows, router.out]; experts, weights: [rows,
  /// choice.slots()].
  virtual void choose_experts(const ExpertChoice& choice, const MatrixView& router,
                              const ProductInputs& inputs, std::size_t rows, float* logits,
                              std::uint32_t* experts, float* weights) const = 0;

  /// taken[i] = inputs[list[i]] for i < count. inputs: [rows, size]; taken: [count, size].
  virtual void take_listed(const ProductInputs& inputs, const std::uint32_t* list,
                           std::size_t count, std::size_t size,
                           const ProductInputs& taken) const = 0;

  /// states[row] += Σ_j weights[row, j] · outputs[places[row, j]], summed from 0 in the order of j.
  /// places, weights: [rows, slots]; outputs: [.., size]; states: [rows, size].
  virtual void add_experts(const float* outputs, const std::uint32_t* places, const float* weights,
                           std::size_t slots, std::size_t rows, std::size_t size,
                           float* states) const = 0;
};

}  // namespace tempera::gpu
