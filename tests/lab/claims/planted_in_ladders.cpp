#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/analysis/ladder_design.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/analysis/tagged_replica.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using namespace reference;
using lab::FunctionsUnderTest;

void exchanged_passages(FunctionsUnderTest& functions) {
  functions.of<lab::LadderFunctions>().adj_round_trip = [](const EdgeAcceptances& a) {
    const RoundTrip trip = adj_round_trip(a);
    return RoundTrip{trip.down, trip.up};
  };
}

void exchanged_formulas(FunctionsUnderTest& functions) {
  functions.of<lab::LadderFunctions>().adj_round_trip_formula = [](const EdgeAcceptances& a) {
    const RoundTrip trip = adj_round_trip_formula(a);
    return RoundTrip{trip.down, trip.up};
  };
}

void half_of_even_odd(FunctionsUnderTest& functions) {
  functions.of<lab::LadderFunctions>().deo_round_trip = [](const EdgeAcceptances& a) {
    const RoundTrip trip = deo_round_trip(a);
    return RoundTrip{trip.up / 2, trip.down / 2};
  };
}

void upward_passage_twice(FunctionsUnderTest& functions) {
  functions.of<lab::LadderFunctions>().adj_round_trip = [](const EdgeAcceptances& a) {
    const RoundTrip trip = adj_round_trip(a);
    return RoundTrip{trip.up, trip.up};
  };
}

/// What is the difference of two powers, whatever the spread.
void difference_of_powers(FunctionsUnderTest& functions) {
  functions.of<lab::LadderFunctions>().thermodynamic_gap = [](Spread, const Power& lower,
                                                              const Power& upper) {
    return Rational(upper.value() - lower.value());
  };
}

/// A quarter of the time anywhere but at rung 1 the tag is put there: no chain of sweeps.
void drawn_to_rung_one(FunctionsUnderTest& functions) {
  functions.of<lab::LadderFunctions>().adj_chain = [](const EdgeAcceptances& a) {
    Matrix chain = adj_chain(a);
    for (std::size_t x = 0; x < chain.rows(); ++x) {
      for (std::size_t y = 0; y < chain.columns(); ++y) chain(x, y) *= Rational(3, 4);
      chain(x, 0) += Rational(1, 4);
    }
    return chain;
  };
}

}  // namespace

std::vector<Planted> planted_in_ladders() {
  return {
      {"return_times", "a tag drawn to rung 1", drawn_to_rung_one},
      {"up_cascades", "a tag drawn to rung 1", drawn_to_rung_one},
      {"up_cascades", "the edges in decreasing order",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().adj_chain = [](const EdgeAcceptances& a) {
           const Matrix chain = adj_chain(a);
           Matrix transposed(chain.rows(), chain.columns());
           for (std::size_t x = 0; x < chain.rows(); ++x)
             for (std::size_t y = 0; y < chain.columns(); ++y) transposed(x, y) = chain(y, x);
           return transposed;
         };
       }},
      {"lifted_chain", "the edges counted from the other end",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().deo_chain = [](const EdgeAcceptances& a) {
           return deo_chain({a.rbegin(), a.rend()});
         };
       }},
      {"elapsed_times", "layers counted in pairs", half_of_even_odd},
      {"growth_of_times", "layers counted in pairs", half_of_even_odd},
      {"real_round_trips", "a trip that counts double",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().mean_round_trip = [](const ParallelTempering& chain) {
           return Rational(2 * mean_round_trip(chain));
         };
       }},
      {"real_round_trips", "acceptances that count half",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().expected_swap_acceptance = [](const Law& lower,
                                                                            const Law& upper) {
           return Rational(expected_swap_acceptance(lower, upper) / 2);
         };
       }},
      {"adj_up", "the two passages exchanged", exchanged_passages},
      {"adj_up", "the two formulas exchanged", exchanged_formulas},
      {"adj_down", "the two passages exchanged", exchanged_passages},
      {"adj_down", "the two formulas exchanged", exchanged_formulas},
      {"adj_round_trip", "the upward passage counted twice", upward_passage_twice},
      {"deo_round_trip", "layers counted in pairs", half_of_even_odd},
      {"deo_round_trip", "a formula of K (1 + R)",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().deo_round_trip_formula =
             [](const EdgeAcceptances& a) { return Rational(deo_round_trip_formula(a) / 2); };
       }},
      {"adj_half_of_deo", "layers counted in pairs", half_of_even_odd},
      {"adj_half_of_deo", "the upward passage counted twice", upward_passage_twice},
      {"ladder_templates", "an arithmetic ladder for either spread",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().equal_distance_ladder =
             [](Spread, const Power& lowest, const Power& highest, std::size_t rungs) {
               return equal_distance_ladder(Spread::constant, lowest, highest, rungs);
             };
       }},
      {"ladder_templates", "a difference of powers for either spread", difference_of_powers},
      {"maximin_problem", "a difference of powers for either spread", difference_of_powers},
      {"maximin_problem", "two solutions for one",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().maximin_ladder = [](const auto& candidates,
                                                                  auto rungs, const auto& quality) {
           MaximinLadder best = maximin_ladder(candidates, rungs, quality);
           best.solutions = 2;
           return best;
         };
       }},
      {"maximin_problem", "the weakest link of a weaker ladder",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().maximin_ladder = [](const auto& candidates,
                                                                  auto rungs, const auto& quality) {
           MaximinLadder best = maximin_ladder(candidates, rungs, quality);
           best.weakest -= 100;
           return best;
         };
       }},
  };
}

}  // namespace tempera::test
