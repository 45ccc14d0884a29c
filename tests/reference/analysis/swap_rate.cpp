#include "reference/analysis/swap_rate.hpp"

#include "reference/bad_input.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

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
