#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "lab/claims/truncated_metropolis.hpp"
#include "reference/analysis/spectral_gap.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/kernels/truncating_kernel.hpp"

namespace tempera::lab {

/// The kernel whose restart position is uniform on 1..len(x), with the factor len(x)/len(y) in its
/// acceptance ratio or without (subsec:implementation-local).
reference::Matrix restart_within_record(const reference::FixedHorizonSpace& space,
                                        const reference::Power& power, bool factor);

/// Kernels, sweeps and stages, as the checks ask for them: see FunctionsUnderTest.
struct KernelFunctions {
  using Chain = reference::ParallelTempering;
  using Kernel = reference::FactoredKernel;
  using Law = reference::Law;
  template <class Signature>
  using Function = std::function<Signature>;

  decltype(std::function(reference::fixed_horizon_kernel_at)) fixed_horizon_kernel_at =
      reference::fixed_horizon_kernel_at;
  decltype(std::function(reference::fixed_horizon_kernel)) fixed_horizon_kernel =
      reference::fixed_horizon_kernel;
  decltype(std::function(reference::truncating_kernel)) truncating_kernel =
      reference::truncating_kernel;
  decltype(std::function(reference::swap_acceptance)) swap_acceptance = reference::swap_acceptance;
  decltype(std::function(lab::restart_within_record)) restart_within_record =
      lab::restart_within_record;
  Function<Law(const Chain&)> product_target = &Chain::target;
  Function<Kernel(const Chain&)> local_sweep = &Chain::local_sweep;
  Function<Kernel(const Chain&, std::size_t)> swap = &Chain::swap;
  Function<Kernel(const Chain&)> ordered_sweep = &Chain::ordered_sweep;
  Function<Kernel(const Chain&)> odd_layer = &Chain::odd_layer;
  Function<Kernel(const Chain&)> even_layer = &Chain::even_layer;
  Function<Kernel(const Chain&, std::size_t, std::size_t)> transition = &Chain::transition;
  Function<Kernel(const Chain&)> deo_transition = &Chain::deo_transition;
  decltype(std::function(reference::stage_target)) stage_target = reference::stage_target;
  decltype(std::function(reference::stage_horizons)) stage_horizons = reference::stage_horizons;
  decltype(std::function(reference::progressive_law)) progressive_law = reference::progressive_law;
  decltype(std::function(reference::progressive_run)) progressive_run = reference::progressive_run;
  decltype(std::function(reference::truncating_swap_acceptance)) truncating_swap_acceptance =
      reference::truncating_swap_acceptance;
  decltype(std::function(lab::truncated_proposal)) truncated_proposal = lab::truncated_proposal;
  decltype(std::function(lab::truncated_metropolis)) truncated_metropolis =
      lab::truncated_metropolis;
  decltype(std::function(lab::restart_through_tau)) restart_through_tau = lab::restart_through_tau;
  decltype(std::function(reference::second_eigenvalue)) second_eigenvalue =
      reference::second_eigenvalue;
  decltype(std::function(reference::eigenvalues_above)) eigenvalues_above =
      reference::eigenvalues_above;
};

}  // namespace tempera::lab
