#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"

namespace tempera::lab {

/// Distances, bounds and biases, as the checks ask for them: see FunctionsUnderTest.
struct BoundFunctions {
  using Fixed = reference::FixedHorizonSpace;
  using Rational = reference::Rational;
  template <class Signature>
  using Function = std::function<Signature>;

  decltype(std::function(reference::total_variation)) total_variation = reference::total_variation;
  decltype(std::function(reference::total_variation_curve)) total_variation_curve =
      reference::total_variation_curve;
  Function<Rational(const Fixed&, const reference::Ladder&, const reference::RestartLaw&)>
      full_restart_weight =
          [](const Fixed& s, const reference::Ladder& l, const reference::RestartLaw& r) {
            return reference::full_restart_weight(s, l, r);
          };
  decltype(std::function(reference::convergence_bound)) convergence_bound =
      reference::convergence_bound;
  decltype(std::function(reference::rung_bias)) rung_bias = reference::rung_bias;
  decltype(std::function(reference::joint_bias_bound)) joint_bias_bound =
      reference::joint_bias_bound;
  decltype(std::function(reference::output_bias_bound)) output_bias_bound =
      reference::output_bias_bound;
  decltype(std::function(reference::flow_bound)) flow_bound = reference::flow_bound;
  decltype(std::function(reference::four_state_fixed_tv)) four_state_fixed_tv =
      reference::four_state_fixed_tv;
  decltype(std::function(reference::four_state_truncating_tv)) four_state_truncating_tv =
      reference::four_state_truncating_tv;
  decltype(std::function(reference::four_state_censored_mass)) four_state_censored_mass =
      reference::four_state_censored_mass;
};

}  // namespace tempera::lab
