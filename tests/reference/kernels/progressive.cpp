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

TEST_CASE("laws of Algorithm 1") {
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
