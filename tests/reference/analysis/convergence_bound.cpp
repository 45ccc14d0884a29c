#include "reference/analysis/convergence_bound.hpp"

#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the four-state coverage") {
  // Least at e: (1/2) / (2/3), halved by the restart law.
  const FixedHorizonSpace space(four_state(), 2);
  CHECK(full_restart_weight(space, Power(2), RestartLaw::uniform(2)) == Rational(3, 8));
  CHECK(full_restart_weight(space, Power(2), parse_restart_law("0,1", 2, "test")) == 0);
  CHECK(full_restart_weight(space, parse_ladder("1,2", "test"), RestartLaw::uniform(2)) ==
        Rational(3, 16));
  CHECK(convergence_bound(Rational(3, 8), 2, Rational(5, 6)) == Rational(125, 384));
}

TEST_CASE("an overstated weight is caught by a chain that is slower") {
  const FixedHorizonSpace space(four_state(), 2);
  const ParallelTempering kernels(space, parse_ladder("2", "test"), RestartLaw::uniform(2));
  const auto curve = total_variation_curve({kernels.transition(1, 1)}, 0, kernels.target(), 3);
  CHECK(curve[3] <= convergence_bound(Rational(3, 8), 3, curve[0]));
  CHECK_FALSE(curve[3] <= convergence_bound(Rational(3, 4), 3, curve[0]));
}

TEST_CASE("laws of the convergence bound") {
  // thm:fixed-horizon-convergence
  law("every row of L_k contains its weight of the target", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Ladder ladder = random::ladder(1);
    const RestartLaw restart = random::restart(space.horizon());
    const ParallelTempering kernels(space, ladder, restart);
    const Rational epsilon = full_restart_weight(space, ladder[0], restart);
    RC_ASSERT(epsilon <= 1);
    RC_ASSERT((epsilon > 0) == (restart(1) > 0));
    for (std::size_t x = 0; x < space.size(); ++x) {
      for (std::size_t y = 0; y < space.size(); ++y) {
        RC_ASSERT(kernels.local_kernel(0)(x, y) >= epsilon * kernels.rung_target(0)[y]);
      }
    }
  });
  law("the joint chain keeps within the bound at every round", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const Ladder ladder = random::ladder(2);
    const RestartLaw restart = random::restart(space.horizon());
    const ParallelTempering kernels(space, ladder, restart);
    const Law target = kernels.target();
    const auto start = random::between<std::size_t>(0, target.size() - 1);
    const auto curve = total_variation_curve({kernels.transition(1, 1)}, start, target, 3);
    const Rational epsilon = full_restart_weight(space, ladder, restart);
    for (unsigned n = 0; n < curve.size(); ++n) {
      RC_ASSERT(curve[n] <= convergence_bound(epsilon, n, curve[0]));
    }
  });
}
