#include <algorithm>

#include "gpu/core/sampler/restart_law.hpp"
#include "lab/claims/bound_functions.hpp"
#include "lab/claims/experiment_functions.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/paper_tables.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/claims/truncated_metropolis.hpp"
#include "lab/defects/gallery.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/law.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
std::function<void(lab::FunctionsUnderTest&)> spoilt_bias(void (*spoil)(reference::RungBias&)) {
  return [spoil](lab::FunctionsUnderTest& functions) {
    functions.of<lab::BoundFunctions>().rung_bias =
        [spoil](const reference::ComparisonSpace& space, const reference::Matrix& kernel,
                const reference::Law& target, std::size_t h) {
          reference::RungBias bias = reference::rung_bias(space, kernel, target, h);
          spoil(bias);
          return bias;
        };
  };
}

namespace {

using namespace reference;
using lab::FunctionsUnderTest;

/// The truncating kernel, half of the time at rest.
Matrix lazy(const ComparisonSpace& space, const Power& power) {
  Matrix kernel = truncating_kernel(space, power);
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t y = 0; y < space.size(); ++y)
      kernel(x, y) = (kernel(x, y) + (x == y ? 1 : 0)) / 2;
  return kernel;
}

/// The truncating kernel, by which the shortest record becomes a longest with probability 1/10.
Matrix lengthening(const ComparisonSpace& space, const Power& power) {
  Matrix kernel = truncating_kernel(space, power);
  std::size_t shortest = 0;
  std::size_t longest = 0;
  for (std::size_t x = 0; x < space.size(); ++x) {
    if (space[x].length() < space[shortest].length()) shortest = x;
    if (space[x].length() > space[longest].length()) longest = x;
  }
  for (std::size_t y = 0; y < space.size(); ++y) kernel(shortest, y) *= Rational(9, 10);
  kernel(shortest, longest) += Rational(1, 10);
  return kernel;
}

Matrix at_rest(const ComparisonSpace& space, const Power&) {
  Matrix kernel(space.size(), space.size());
  complete_rows_on_diagonal(kernel);
  return kernel;
}

std::function<void(FunctionsUnderTest&)> scaled_variation(const Rational& factor) {
  return [factor](FunctionsUnderTest& functions) {
    functions.of<lab::BoundFunctions>().total_variation = [factor](const Law& mu, const Law& nu) {
      return Rational(factor * total_variation(mu, nu));
    };
  };
}

/// The same defects of the bounds, for either check that judges them.
std::vector<Planted> in_bias_bounds(const std::string& check) {
  return {
      {check, "a joint bound without its K",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().joint_bias_bound =
             [](const std::vector<RungBias>& rungs, unsigned n) {
               const Rational bound =
                   joint_bias_floor(rungs) - integer_power(1 - uniform_entry(rungs), n);
               return bound > 0 ? bound : Rational(0);
             };
       }},
      {check, "a rung's bound one round late",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().output_bias_bound =
             [](const std::vector<RungBias>& rungs, std::size_t k, unsigned n) {
               return output_bias_bound(rungs, k, n - 1);
             };
       }},
      {check, "a delta that is too large",
       spoilt_bias([](RungBias& bias) { bias.entry = (bias.entry + 1) / 2; })},
      {check, "an excluded mass that is too small",
       spoilt_bias([](RungBias& bias) { bias.excluded_mass /= 2; })},
      {check, "confinement denied", spoilt_bias([](RungBias& bias) { bias.confined = false; })},
      {check, "a variation of nothing", scaled_variation(0)},
  };
}

}  // namespace

std::vector<Planted> planted_in_bounds() {
  std::vector<Planted> all{
      {"minorization", "twice the epsilon",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().full_restart_weight =
             [](const auto& space, const auto& ladder, const auto& law) {
               return Rational(2 * full_restart_weight(space, ladder, law));
             };
       }},
      {"minorization", "an epsilon of nothing",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().full_restart_weight =
             [](const auto&, const auto&, const auto&) { return Rational(0); };
       }},
      {"minorization", "a sweep at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().local_sweep = [](const ParallelTempering& chain) {
           return FactoredKernel(chain.shape());
         };
       }},
      {"convergence", "a round at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition = [](const ParallelTempering& chain,
                                                              std::size_t, std::size_t) {
           return FactoredKernel(chain.shape());
         };
       }},
      {"convergence", "a round that no longer moves one rung",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition = [](const ParallelTempering& chain,
                                                              std::size_t, std::size_t) {
           std::vector<Matrix> kernels;
           for (std::size_t k = 0; k < chain.shape().size(); ++k)
             kernels.push_back(chain.local_kernel(k));
           Matrix rest(chain.shape()[0], chain.shape()[0]);
           complete_rows_on_diagonal(rest);
           kernels.front() = rest;
           FactoredKernel round(chain.shape());
           round.then_move(kernels);
           return round;
         };
       }},
      {"convergence", "a bound that forgets the initial distance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().convergence_bound = [](const Rational& epsilon,
                                                                    unsigned n, const Rational&) {
           return convergence_bound(epsilon, n, 1);
         };
       }},
      {"structural_bias", "a variation of nine tenths", scaled_variation(Rational(9, 10))},
      {"truncating_bias", "a kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = at_rest;
       }},
      {"truncating_bias", "a kernel that lengthens",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = lengthening;
       }},
      {"crossing", "a kernel that lengthens",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = lengthening;
       }},
      {"crossing", "a kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = at_rest;
       }},
      {"crossing", "a flow that counts double",
       spoilt_bias([](RungBias& bias) { bias.flow *= 2; })},
      {"shortening_flow", "the sum of the flows, not their mean",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().flow_bound = [](const std::vector<RungBias>& rungs) {
           return Rational(Rational(rungs.size()) * flow_bound(rungs));
         };
       }},
      {"shortening_flow", "a flow of nothing", spoilt_bias([](RungBias& bias) { bias.flow = 0; })},
      {"shortening_flow", "a variation of nothing", scaled_variation(0)},
      {"truncating_one_way", "a kernel that lengthens",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = lengthening;
       }},
      {"four_state_confinement", "a lazy kernel",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = lazy;
       }},
      {"four_state_confinement", "a kernel that lengthens",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = lengthening;
       }},
  };
  for (const char* check : {"structural_bias", "truncating_bias"})
    for (Planted& planted : in_bias_bounds(check)) all.push_back(std::move(planted));
  return all;
}

std::vector<Planted> planted_in_drift() {
  const auto without_factor = [](FunctionsUnderTest& functions) {
    functions.of<lab::KernelFunctions>().restart_through_tau = [](const auto& space,
                                                                  const auto& power, std::size_t) {
      return lab::restart_within_record(space, power, false);
    };
  };
  return {
      {"swaps_preserve_count", "swaps at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_swap_acceptance =
             [](const auto& space, const auto&, const auto&) {
               return Matrix(space.size(), space.size());
             };
       }},
      {"swapped_keep_budget", "a kernel that lengthens",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = lengthening;
       }},
      {"swapped_keep_budget", "swaps at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_swap_acceptance =
             [](const auto& space, const auto&, const auto&) {
               return Matrix(space.size(), space.size());
             };
       }},
      {"mean_count_drop", "a flow that counts double",
       spoilt_bias([](RungBias& bias) { bias.flow *= 2; })},
      {"mean_count_drop", "an excluded mass that is too small",
       spoilt_bias([](RungBias& bias) { bias.excluded_mass /= 2; })},
      {"mean_count_drop", "a kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = at_rest;
       }},
      {"count_contracts", "a delta that is too large",
       spoilt_bias([](RungBias& bias) { bias.entry = (bias.entry + 1) / 2; })},
      {"count_contracts", "a kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = at_rest;
       }},
      {"long_mass_harmless", "a kernel that censors",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = [](const ComparisonSpace& space,
                                                                     const Power&) {
           Matrix kernel(space.size(), space.size());
           for (std::size_t x = 0; x < space.size(); ++x) kernel(x, 0) = 1;
           return kernel;
         };
       }},
      {"long_mass_harmless", "an excluded mass that is too small",
       spoilt_bias([](RungBias& bias) { bias.excluded_mass /= 2; })},
      {"transient_crossings", "a flow of nothing",
       spoilt_bias([](RungBias& bias) { bias.flow = 0; })},
      {"bias_bound_reached", "a rung's bound one round late",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().output_bias_bound =
             [](const std::vector<RungBias>& rungs, std::size_t k, unsigned n) {
               return output_bias_bound(rungs, k, n - 1);
             };
       }},
      {"bias_bound_reached", "a variation of nine tenths", scaled_variation(Rational(9, 10))},
      {"tau_of_censored", "the factor left out", without_factor},
      {"tau_of_censored", "the length for tau, whatever a censored record counts as",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().restart_through_tau =
             [](const auto& space, const auto& power, std::size_t) {
               return lab::restart_through_tau(space, power, space.horizon());
             };
       }},
  };
}

std::vector<Planted> planted_in_four_states() {
  const auto lazy_kernel = [](FunctionsUnderTest& functions) {
    functions.of<lab::KernelFunctions>().truncating_kernel = lazy;
  };
  const auto another_power = [](FunctionsUnderTest& functions) {
    functions.of<lab::RecordFunctions>().power_target = [](const FixedHorizonSpace& space,
                                                           const Power&) {
      return power_target(space, Power(Rational(3)));
    };
  };
  const auto another_restart = [](FunctionsUnderTest& functions) {
    functions.of<lab::KernelFunctions>().fixed_horizon_kernel = [](const auto& space,
                                                                   const auto& power, const auto&) {
      return fixed_horizon_kernel(space, power, RestartLaw({Rational(1, 3), Rational(2, 3)}));
    };
  };
  const auto without_half = [](FunctionsUnderTest& functions) {
    functions.of<lab::BoundFunctions>().total_variation_curve = [](const auto& schedule, auto start,
                                                                   const auto& target, auto steps) {
      auto curve = total_variation_curve(schedule, start, target, steps);
      for (Rational& value : curve) value *= 2;
      return curve;
    };
  };
  const auto one_step_ahead = [](FunctionsUnderTest& functions) {
    functions.of<lab::BoundFunctions>().total_variation_curve = [](const auto& schedule, auto start,
                                                                   const auto& target, auto steps) {
      auto curve = total_variation_curve(schedule, start, target, steps + 1);
      curve.erase(curve.begin());
      return curve;
    };
  };
  return {
      {"printed_decimals", "a lazy kernel", lazy_kernel},
      {"printed_decimals", "another last digit",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ExperimentFunctions>().paper_tables = [](const std::string& tree) {
           lab::PaperTables tables = lab::read_paper_tables(tree);
           tables.at("fig:condensed-tv-summary").entry("four-state", "N = 5", "Fixed horizon") +=
               Rational(1, 100000);
           return tables;
         };
       }},
      {"back_with_an_eighth", "another restart law", another_restart},
      {"length_only_bound", "a bound one round ahead",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().output_bias_bound =
             [](const std::vector<RungBias>& rungs, std::size_t k, unsigned n) {
               return output_bias_bound(rungs, k, n + 1);
             };
       }},
      {"valid_masses", "a lazy kernel", lazy_kernel},
      {"falls_then_rises", "a curve one step ahead", one_step_ahead},
      {"censored_unreachable", "a truncating kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = at_rest;
       }},
      {"full_restart_example", "the restart at 2",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel_at =
             [](const auto& space, const auto& power, std::size_t) {
               return fixed_horizon_kernel_at(space, power, 2);
             };
       }},
      {"full_restart_example", "another power's target for the base law",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().base_law = [](const FixedHorizonSpace& space) {
           return power_target(space, Power(Rational(2)));
         };
       }},
      {"hit_capacity_example", "another power's target", another_power},
      {"four_state_target", "another power", another_power},
      {"four_state_fixed", "another restart law", another_restart},
      {"four_state_fixed", "another power",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel =
             [](const auto& space, const auto&, const auto& restart) {
               return fixed_horizon_kernel(space, Power(Rational(3)), restart);
             };
       }},
      {"four_state_truncating", "a lazy kernel", lazy_kernel},
      {"four_state_invariance", "another power's target", another_power},
      {"four_state_invariance", "a kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel = [](const auto& space,
                                                                        const auto&, const auto&) {
           Matrix kernel(space.size(), space.size());
           complete_rows_on_diagonal(kernel);
           return kernel;
         };
       }},
      {"four_state_moved", "a lazy kernel", lazy_kernel},
      {"four_state_moved", "another power's target", another_power},
      {"tv_law_fixed", "another restart law", another_restart},
      {"tv_law_fixed", "a variation without its half", without_half},
      {"tv_law_fixed", "a function with another rate",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().four_state_fixed_tv = [](unsigned n) {
           return Rational(Rational(2, 3) * integer_power(Rational(3, 4), n));
         };
       }},
      {"tv_law_truncating", "a lazy kernel", lazy_kernel},
      {"tv_law_truncating", "a variation without its half", without_half},
      {"tv_law_truncating", "a function one step ahead",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().four_state_truncating_tv = [](unsigned n) {
           return four_state_truncating_tv(n + 1);
         };
       }},
      {"tv_at_two", "a variation without its half", without_half},
      {"tv_at_two", "another restart law", another_restart},
      {"tv_minimum", "a curve one step ahead", one_step_ahead},
      {"tv_at_minimum", "a curve one step ahead", one_step_ahead},
      {"tv_at_minimum", "a variation without its half", without_half},
      {"censored_mass", "a lazy kernel", lazy_kernel},
      {"censored_mass", "a function one step ahead",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().four_state_censored_mass = [](unsigned n) {
           return four_state_censored_mass(n + 1);
         };
       }},
      {"censored_mass_equality", "a variation without its half", without_half},
      {"censored_mass_equality", "a curve one step ahead", one_step_ahead},
  };
}

}  // namespace tempera::test
