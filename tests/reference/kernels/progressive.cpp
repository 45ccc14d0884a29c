#include "reference/kernels/progressive.hpp"

#include <numeric>

#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/bad_input.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("stages end at min(mB, T)") {
  using Horizons = std::vector<std::size_t>;
  CHECK(stage_horizons(5, 2) == Horizons{2, 4, 5});
  CHECK(stage_horizons(4, 2) == Horizons{2, 4});
  CHECK(stage_horizons(3, 9) == Horizons{3});
  CHECK_THROWS_AS(stage_horizons(0, 1), BadInput);
  CHECK_THROWS_AS(stage_horizons(1, 0), BadInput);
}

TEST_CASE("without rounds Algorithm 1 is tokenwise temperature decoding") {
  const Law law = progressive_law(four_state(), 2, 1, parse_ladder("2", "test"), {{0, 1, 1}});
  CHECK(law == Law{q("1/4"), q("1/4"), q("1/2")});
}

TEST_CASE("one round at the second stage is one step of the fixed-horizon kernel") {
  const Law law =
      progressive_law(four_state(), 2, 1, parse_ladder("2", "test"), {{0, 1, 1}, {1, 1, 1}});
  CHECK(law == Law{q("7/32"), q("7/32"), q("9/16")});
}

TEST_CASE("a schedule per stage, or one for all") {
  CHECK_THROWS_AS(
      progressive_law(four_state(), 3, 1, parse_ladder("1", "test"), {{1, 1, 1}, {1, 1, 1}}),
      BadInput);
}

TEST_CASE("the target of a stage is that of its own horizon") {
  const Ladder ladder = parse_ladder("1,2", "test");
  // T_1 = 1: p0 = (1/2, 1/2) and its square normalised.
  CHECK(stage_target(four_state(), 2, 1, ladder, 1) == Law(4, q("1/4")));
  // T_2 = 2: (1/4, 1/4, 1/2) times (1/6, 1/6, 2/3).
  CHECK(stage_target(four_state(), 2, 1, ladder, 2) == Law{q("1/24"), q("1/24"), q("1/6"),
                                                           q("1/24"), q("1/24"), q("1/6"),
                                                           q("1/12"), q("1/12"), q("1/3")});
  CHECK_THROWS_AS(stage_target(four_state(), 2, 1, ladder, 0), BadInput);
  CHECK_THROWS_AS(stage_target(four_state(), 2, 1, ladder, 3), BadInput);
  CHECK_THROWS_AS(stage_target(four_state(), 40, 40, parse_ladder("1,2,3", "test"), 1), BadInput);
}

// The mistake to make is to take the beginning of Π_T for Π_m.
TEST_CASE("a stage's target is not the law of the beginnings of the last one's") {
  const Ladder ladder = parse_ladder("2", "test");
  const Law last = stage_target(four_state(), 2, 1, ladder, 2);
  const Law beginnings{last[0] + last[1], last[2]};
  CHECK(beginnings == Law{q("1/3"), q("2/3")});
  CHECK(stage_target(four_state(), 2, 1, ladder, 1) == Law{q("1/2"), q("1/2")});
}

TEST_CASE("laws of Algorithm 1") {
  law("a round preserves its stage's target, whose marginals are the rungs' targets", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(3);
    const std::size_t block = random::between<std::size_t>(1, horizon);
    const Ladder ladder = random::ladder(2);
    const auto horizons = stage_horizons(horizon, block);
    const std::size_t m = random::between<std::size_t>(1, horizons.size());
    const FixedHorizonSpace space(model, horizons[m - 1]);
    const Law target = stage_target(model, horizon, block, ladder, m);
    const ParallelTempering kernels(space, ladder, RestartLaw::uniform(horizons[m - 1]));
    RC_ASSERT(kernels.transition(1, 1).apply(target) == target);
    for (std::size_t k = 0; k < 2; ++k)
      RC_ASSERT(marginal(target, kernels.shape(), k) == power_target(space, ladder[k]));
  });
  law("its output is a law on S_T^K, within the convergence bound of the target", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(2);
    const std::size_t block = random::between<std::size_t>(1, horizon);
    const Ladder ladder = random::ladder(2);
    const auto rounds = random::between<std::size_t>(1, 2);
    const FixedHorizonSpace space(model, horizon);
    const ParallelTempering kernels(space, ladder, RestartLaw::uniform(horizon));

    const Law output = progressive_law(model, horizon, block, ladder, {{rounds, 1, 1}});
    RC_ASSERT(std::accumulate(output.begin(), output.end(), Rational(0)) == 1);
    const Rational tv = total_variation(output, kernels.target());
    const Rational epsilon = full_restart_weight(space, ladder, RestartLaw::uniform(horizon));
    RC_ASSERT(tv <= convergence_bound(epsilon, static_cast<unsigned>(rounds), 1));
    RC_ASSERT(total_variation(marginal(output, kernels.shape(), 1), kernels.rung_target(1)) <= tv);
  });
}
