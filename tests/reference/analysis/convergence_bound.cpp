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
  // A chain that restarts at position 1 alone accepts q(y) π(x) / (q(x) π(y)): from the record of the
  // greatest π / q every other one is reached with just the weight of the target. So no greater
  // weight is within every row, and each restart law has its share ω(1) of this one.
  law("the weight is the greatest where all restarts are full, and ω(1) of it elsewhere", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Ladder ladder = random::ladder(1);
    RC_PRE(space.size() > 1U);
    std::vector<Rational> first(space.horizon(), 0);
    first[0] = 1;
    const ParallelTempering kernels(space, ladder, RestartLaw(first));
    const Rational full = full_restart_weight(space, ladder[0], RestartLaw(first));
    std::optional<Rational> greatest;
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y) {
        if (x == y) continue;
        const Rational share = kernels.local_kernel(0)(x, y) / kernels.rung_target(0)[y];
        if (!greatest || share < *greatest) greatest = share;
      }
    RC_ASSERT(full == *greatest);
    const RestartLaw restart = random::restart(space.horizon());
    RC_ASSERT(full_restart_weight(space, ladder[0], restart) == restart(1) * full);
  });
  law("a ladder has the product of its rungs' weights, and each round takes its share", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const Ladder ladder = random::ladder(3);
    const RestartLaw restart = random::restart(space.horizon());
    Rational product = 1;
    for (std::size_t k = 0; k < ladder.rungs(); ++k)
      product *= full_restart_weight(space, ladder[k], restart);
    const Rational epsilon = full_restart_weight(space, ladder, restart);
    RC_ASSERT(epsilon == product);
    Rational bound = random::weights(4)[1];
    const Rational begin = bound;
    for (unsigned round = 0; round < 4; ++round, bound *= 1 - epsilon)
      RC_ASSERT(convergence_bound(epsilon, round, begin) == bound);
  });
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
