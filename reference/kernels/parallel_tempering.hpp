#pragma once

#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::reference {

/// What one swap sweep is: C = W_1 ... W_{K-1}, or one parity layer, odd edges first.
enum class Schedule { adj, deo };

/// The kernels of Parallel Power Tempering on S_T^K, one horizon held fixed. Each preserves Π
/// (prop:fixed-stage-invariance). Joint states are
/// row-major with rung 1 slowest.
class ParallelTempering {
 public:
  /// The restart law is over 1..T and serves every rung.
  /// @throw BadInput if |S_T|^K exceeds joint_law_limit, a probability to a power is irrational, or
  /// local_kernel refuses the restart law
  ParallelTempering(const FixedHorizonSpace& space, const Ladder& ladder, const RestartLaw& restart,
                    RestartRange range = RestartRange::horizon);

  const Shape& shape() const { return shape_; }
  /// π_k, k from 0.
  const Law& rung_target(std::size_t k) const { return targets_[k]; }
  /// Π = Π_k π_k (eq:theory-product-target).
  Law target() const { return product_law(targets_); }
  /// L_k, k from 0.
  const Matrix& local_kernel(std::size_t k) const { return local_kernels_[k]; }

  /// R: every rung makes one local move.
  const FactoredKernel& local_sweep() const { return local_sweep_; }
  /// W_k, which exchanges rungs k and k+1, k from 1 to K-1 as in the paper.
  const FactoredKernel& swap(std::size_t k) const { return swaps_[k - 1]; }
  /// C = W_1 ... W_{K-1}, W_1 first.
  FactoredKernel ordered_sweep() const;
  /// One layer of the even-odd schedule: every W_k with k odd, or every one with k even.
  FactoredKernel odd_layer() const { return layer(1); }
  FactoredKernel even_layer() const { return layer(2); }

  /// The sweep that a run does after `number` others.
  FactoredKernel sweep(Schedule schedule, std::size_t number) const;

  /// P = R^{n_local} C^{n_sweep}.
  FactoredKernel transition(std::size_t n_local, std::size_t n_sweep) const;
  /// R O R E: local sweep, odd layer, local sweep, even layer.
  FactoredKernel deo_transition() const;

 private:
  FactoredKernel layer(std::size_t first_edge) const;

  Shape shape_;
  std::vector<Law> targets_;
  std::vector<Matrix> local_kernels_;
  FactoredKernel local_sweep_;
  std::vector<FactoredKernel> swaps_;
};

}  // namespace tempera::reference
