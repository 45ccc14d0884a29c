#pragma once

#include "reference/kernels/carried_chain.hpp"
#include "reference/kernels/parallel_tempering.hpp"

namespace tempera::reference {

/// π_k on the tree: p0^α over its sum.
class TreeTarget {
 public:
  explicit TreeTarget(const TreeKernel& kernel);
  /// Z = Σ_x p0(x)^α.
  const Rational& normalizer() const { return normalizer_; }
  /// A multiple of the denominator of every π_k(x).
  const Integer& denominator() const { return denominator_; }
  Rational operator()(std::size_t x) const;
  /// Each state modulo one prime that divides no denominator.
  std::vector<PrimeField::Element> modulo(const PrimeField& field) const;

 private:
  const TreeKernel& kernel_;
  Rational normalizer_;
  Integer denominator_;
};

/// The kernels of Parallel Power Tempering on S_T^K as ParallelTempering has them, for spaces that
/// have no matrices. One rung is a chain of local moves.
class CarriedTempering {
 public:
  /// @throw BadInput as RecordTree, TreeKernel and CarriedChain
  CarriedTempering(const FiniteModel& model, std::size_t horizon, const Ladder& ladder,
                   const RestartLaw& restart);

  const RecordTree& tree() const { return *tree_; }
  std::size_t rungs() const { return kernels_.size(); }
  const TreeTarget& rung_target(std::size_t k) const { return targets_[k]; }

  CarriedChain local_sweep() const;
  /// W_k, k from 1 to K-1 as in the paper.
  CarriedChain swap(std::size_t k) const;
  CarriedChain ordered_sweep() const { return layer(1, 1); }
  CarriedChain odd_layer() const { return layer(1, 2); }
  CarriedChain even_layer() const { return layer(2, 2); }
  /// P = R^{n_local} C^{n_sweep}.
  CarriedChain transition(std::size_t n_local, std::size_t n_sweep) const;
  /// R O R E.
  CarriedChain deo_transition() const;

  /// Π(state), and a multiple of every Π(state)'s denominator.
  Rational target(std::size_t state) const;
  Integer target_denominator() const;
  std::vector<PrimeField::Element> target_modulo(const PrimeField& field) const;
  /// The expected acceptance of each edge at equilibrium (expected_swap_acceptance).
  std::vector<Rational> swap_acceptances() const;

 private:
  CarriedChain layer(std::size_t first_edge, std::size_t stride) const;

  std::shared_ptr<const RecordTree> tree_;
  std::vector<std::shared_ptr<const TreeKernel>> kernels_;
  std::vector<std::shared_ptr<const TreeSwap>> swaps_;
  std::vector<TreeTarget> targets_;
};

}  // namespace tempera::reference
