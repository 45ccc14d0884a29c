#include <algorithm>

#include "lab/claims/experiment_functions.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/analysis/diagnostics.hpp"
#include "reference/analysis/power_family.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using namespace reference;
using lab::FunctionsUnderTest;
using Energies = std::vector<Rational>;

/// One acceptance for every pair of powers.
std::function<void(FunctionsUnderTest&)> constant_acceptance(const Rational& value) {
  return [value](FunctionsUnderTest& functions) {
    functions.of<lab::LadderFunctions>().equilibrium_acceptance =
        [value](const Energies&, const Rational&, const Rational&, long bits) {
          return Interval(value, bits);
        };
  };
}

/// σ²(s) = s^-weight.
std::function<void(FunctionsUnderTest&)> variance_by_power(unsigned weight) {
  return [weight](FunctionsUnderTest& functions) {
    functions.of<lab::LadderFunctions>().energy_variance =
        [weight](const Energies&, const Rational& power, long bits) {
          return Interval(1 / integer_power(power, weight), bits);
        };
  };
}

}  // namespace

std::vector<Planted> planted_in_design() {
  return {
      {"gaussian_closed_form", "twice the distance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().gaussian_acceptance = [](const Interval& distance) {
           return gaussian_acceptance(distance + distance);
         };
       }},
      {"gaussian_closed_form", "an acceptance that does not fall",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().gaussian_acceptance = [](const Interval& distance) {
           return gaussian_acceptance(Interval(1, distance.bits()));
         };
       }},
      {"surrogate_is_not_exact", "the surrogate for the exact acceptance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().equilibrium_acceptance =
             [](const Energies& p0, const Rational& lower, const Rational& upper, long bits) {
               return gaussian_acceptance(thermodynamic_distance(p0, lower, upper, 128, bits));
             };
       }},
      {"distance_is_local_scale", "the variance for the deviation",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().energy_variance =
             [](const Energies& p0, const Rational& power, long bits) {
               const Interval variance = energy_variance(p0, power, bits);
               return variance * variance;
             };
       }},
      {"no_constant_spread", "a constant spread", variance_by_power(0)},
      {"no_constant_spread", "a spread of 1/alpha", variance_by_power(2)},
      {"variance_vanishes", "a constant spread", variance_by_power(0)},
      {"constant_energy", "acceptances that count half",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().expected_swap_acceptance = [](const Law& lower,
                                                                            const Law& upper) {
           return Rational(expected_swap_acceptance(lower, upper) / 2);
         };
       }},
      {"constant_energy", "a variance where there is none", variance_by_power(2)},
      {"equal_exact_is_maximin", "one acceptance for all", constant_acceptance(Rational(1, 2))},
      {"equal_exact_is_maximin", "the rejection for the acceptance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().equilibrium_acceptance =
             [](const Energies& p0, const Rational& lower, const Rational& upper, long bits) {
               return Interval(1, bits) - equilibrium_acceptance(p0, lower, upper, bits);
             };
       }},
      {"denser_accepts_more", "one acceptance for all", constant_acceptance(Rational(1, 2))},
      {"far_powers_floor", "no acceptance", constant_acceptance(0)},
      {"far_powers_floor", "one acceptance for all", constant_acceptance(1)},
      {"ess_range", "the inverse of the greatest weight",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ExperimentFunctions>().effective_sample_size =
             [](const std::vector<Rational>& weights) {
               return Rational(1 / *std::max_element(weights.begin(), weights.end()));
             };
       }},
      {"smallest_weight_variance", "the second moment for the variance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ExperimentFunctions>().incremental_weight_variance =
             [](const TokenRow& row, const Power& power, const TokenRow& proposal) {
               return Rational(incremental_weight_variance(row, power, proposal) + 1);
             };
       }},
      {"smallest_weight_variance", "no variance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ExperimentFunctions>().incremental_weight_variance =
             [](const TokenRow&, const Power&, const TokenRow&) { return Rational(0); };
       }},
      {"vote_ties", "likelihoods left out",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ExperimentFunctions>().majority_answer =
             [](const std::vector<std::size_t>& answers, const auto&) {
               return majority_answer(answers, std::vector<Rational>(answers.size(), Rational(1)));
             };
       }},
      {"confidence_at_most_zero", "the entropy itself",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ExperimentFunctions>().negative_entropy = [](const TokenRow& row,
                                                                        long bits) {
           return Interval(0, bits) - negative_entropy(row, bits);
         };
       }},
  };
}

}  // namespace tempera::test
