#include "reference/analysis/swap_rate.hpp"

#include "base/error.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

TEST_CASE("the four-state ladder 1, 2, 4") {
  const FixedHorizonSpace space(four_state(), 2);
  const LadderDiagnosis ladder = diagnose_ladder(space, parse_ladder("1,2,4", "test"));
  CHECK(ladder.acceptances == std::vector<Rational>{q("5/6"), q("7/9")});
  CHECK(ladder.weakest == 1);
  CHECK(ladder.strongest == 0);
  CHECK(ladder.rejection == Rational(1, 5) + Rational(2, 7));
  CHECK_FALSE(ladder.equi_accepting());
  CHECK_THROWS_AS(diagnose_ladder(space, parse_ladder("1", "test")), BadInput);
}

// Two laws with nothing in common, and a ladder whose weakest edge is in the middle.
TEST_CASE("the expected acceptance is the sum of the lesser flows, pair by pair") {
  const Law lower{q("1/6"), q("1/3"), q("1/2")}, upper{q("3/5"), q("3/10"), q("1/10")};
  // Σ min(l(x) u(y), l(y) u(x)): 1/10 + 1/10 + 1/20 on the diagonal; of the pairs 1/20, 1/60 and
  // 1/30, each twice.
  CHECK(expected_swap_acceptance(lower, upper) == q("9/20"));
  CHECK(expected_swap_acceptance(upper, lower) == q("9/20"));
}

TEST_CASE("a ladder of four unlike edges is diagnosed from the likelihoods alone") {
  // a a 1/6, a e 1/2, e 1/3.
  const FiniteModel model({"biased",
                           {{"a", "e"}, "test"},
                           {1},
                           {{{0}, {q("1/4"), q("3/4")}}},
                           TokenRow{q("2/3"), q("1/3")}},
                          "test");
  const std::vector<Rational> p0{q("1/6"), q("1/2"), q("1/3")};
  const std::vector<unsigned> powers{1, 2, 6, 8, 9};
  std::vector<Rational> expected;
  Rational rejection = 0;
  for (std::size_t k = 0; k + 1 < powers.size(); ++k) {
    Rational sum = 0, lower_z = 0, upper_z = 0;
    for (const Rational& p : p0) {
      lower_z += integer_power(p, powers[k]);
      upper_z += integer_power(p, powers[k + 1]);
    }
    for (const Rational& x : p0)
      for (const Rational& y : p0) {
        const Rational stay = integer_power(x, powers[k]) * integer_power(y, powers[k + 1]);
        const Rational swapped = integer_power(y, powers[k]) * integer_power(x, powers[k + 1]);
        sum += (stay < swapped ? stay : swapped) / (lower_z * upper_z);
      }
    expected.push_back(sum);
    rejection += (1 - sum) / sum;
  }
  const LadderDiagnosis ladder =
      diagnose_ladder(FixedHorizonSpace(model, 2), parse_ladder("1,2,6,8,9", "test"));
  CHECK(ladder.acceptances == expected);
  CHECK(ladder.rejection == rejection);
  CHECK(ladder.weakest == 1);
  CHECK(ladder.strongest == 3);
}

TEST_CASE("laws of swap rates") {
  law("wider gaps are accepted less, and equal energies always", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Ladder ladder = random::ladder(3);
    std::vector<Law> targets;
    for (std::size_t k = 0; k < 3; ++k) targets.push_back(power_target(space, ladder[k]));
    const Rational near = expected_swap_acceptance(targets[0], targets[1]);
    const Rational far = expected_swap_acceptance(targets[0], targets[2]);
    RC_ASSERT(near > 0);
    RC_ASSERT(near <= 1);
    RC_ASSERT(far <= near);
    RC_ASSERT((near == 1) == (targets[0] == targets[1]));
  });
}
