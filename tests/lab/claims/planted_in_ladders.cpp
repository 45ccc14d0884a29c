#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using namespace reference;
using lab::Judged;

void exchanged_passages(Judged& judged) {
  judged.ordered_round_trip = [](const EdgeAcceptances& a) {
    const RoundTrip trip = ordered_round_trip(a);
    return RoundTrip{trip.down, trip.up};
  };
}

void exchanged_formulas(Judged& judged) {
  judged.ordered_round_trip_formula = [](const EdgeAcceptances& a) {
    const RoundTrip trip = ordered_round_trip_formula(a);
    return RoundTrip{trip.down, trip.up};
  };
}

void half_of_even_odd(Judged& judged) {
  judged.even_odd_round_trip = [](const EdgeAcceptances& a) {
    const RoundTrip trip = even_odd_round_trip(a);
    return RoundTrip{trip.up / 2, trip.down / 2};
  };
}

void upward_passage_twice(Judged& judged) {
  judged.ordered_round_trip = [](const EdgeAcceptances& a) {
    const RoundTrip trip = ordered_round_trip(a);
    return RoundTrip{trip.up, trip.up};
  };
}

/// What is the difference of two powers, whatever the spread.
void difference_of_powers(Judged& judged) {
  judged.thermodynamic_gap = [](Spread, const Power& lower, const Power& upper) {
    return Rational(upper.value() - lower.value());
  };
}

}  // namespace

std::vector<Planted> planted_in_ladders() {
  return {
      {"adj_up", "the two passages exchanged", exchanged_passages},
      {"adj_up", "the two formulas exchanged", exchanged_formulas},
      {"adj_down", "the two passages exchanged", exchanged_passages},
      {"adj_down", "the two formulas exchanged", exchanged_formulas},
      {"adj_round_trip", "the upward passage counted twice", upward_passage_twice},
      {"deo_round_trip", "layers counted in pairs", half_of_even_odd},
      {"deo_round_trip", "a formula of K (1 + R)",
       [](Judged& judged) {
         judged.even_odd_round_trip_formula = [](const EdgeAcceptances& a) {
           return Rational(even_odd_round_trip_formula(a) / 2);
         };
       }},
      {"adj_half_of_deo", "layers counted in pairs", half_of_even_odd},
      {"adj_half_of_deo", "the upward passage counted twice", upward_passage_twice},
      {"ladder_templates", "an arithmetic ladder for either spread",
       [](Judged& judged) {
         judged.equal_distance_ladder = [](Spread, const Power& lowest, const Power& highest,
                                           std::size_t rungs) {
           return equal_distance_ladder(Spread::constant, lowest, highest, rungs);
         };
       }},
      {"ladder_templates", "a difference of powers for either spread", difference_of_powers},
      {"maximin_problem", "a difference of powers for either spread", difference_of_powers},
      {"maximin_problem", "two solutions for one",
       [](Judged& judged) {
         judged.maximin_ladder = [](const auto& candidates, auto rungs, const auto& quality) {
           MaximinLadder best = maximin_ladder(candidates, rungs, quality);
           best.solutions = 2;
           return best;
         };
       }},
      {"maximin_problem", "the weakest link of a weaker ladder",
       [](Judged& judged) {
         judged.maximin_ladder = [](const auto& candidates, auto rungs, const auto& quality) {
           MaximinLadder best = maximin_ladder(candidates, rungs, quality);
           best.weakest -= 100;
           return best;
         };
       }},
  };
}

}  // namespace tempera::test
