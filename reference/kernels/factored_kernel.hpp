#pragma once

#include <memory>
#include <vector>

#include "reference/kernels/joint_states.hpp"
#include "reference/numbers/common_denominator.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rounded_products.hpp"

namespace tempera::reference {

/// A Markov kernel between products of finite spaces, kept as the factors that it composes, in the
/// order in which they act: matrices on all coordinates at once, and exchanges of neighbours. Laws
/// are carried through the factors, so that the joint matrix need not exist.
class FactoredKernel {
 public:
  /// The identity.
  explicit FactoredKernel(Shape shape) : from_(shape), to_(std::move(shape)) {}
  /// A kernel on one coordinate.
  explicit FactoredKernel(const Matrix& kernel);

  /// Every coordinate k moves independently by kernels[k]; rows(kernels[k]) states before,
  /// columns(kernels[k]) after. The same matrix may serve several coordinates.
  void then_move(const std::vector<Matrix>& kernels);
  /// Coordinates k and k+1 (from 0), holding x and y, are exchanged with probability
  /// acceptance(x, y). Both coordinates must have the same states.
  void then_swap(std::size_t k, const Matrix& acceptance);
  /// What `next` does, afterwards.
  void then(const FactoredKernel& next);

  const Shape& from() const { return from_; }
  const Shape& to() const { return to_; }

  /// μP for a law on the states of `from`.
  Law apply(const Law& law) const;
  /// Row of the joint matrix, as numerators over row_denominator(), the same for every row.
  std::vector<Integer> row_numerators(std::size_t state) const;
  Integer row_denominator() const;
  /// The joint matrix, |from| x |to|.
  Matrix matrix() const;
  /// The same in doubles, without a rational of its own for each entry.
  RoundedMatrix rounded_matrix() const;

  /// States that some state of the set reaches with positive probability.
  std::vector<bool> successors(std::vector<bool> states) const;
  /// States that reach some state of the set with positive probability.
  std::vector<bool> predecessors(std::vector<bool> states) const;

 private:
  class Factor;
  class Move;
  class Swap;

  Shape from_, to_;
  std::vector<std::shared_ptr<const Factor>> factors_;
};

/// P^n: the kernel n times over.
FactoredKernel repeated(const FactoredKernel& kernel, std::size_t n);

}  // namespace tempera::reference
