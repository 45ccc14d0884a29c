#include "reference/analysis/tagged_replica.hpp"

#include "reference/analysis/four_state.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "tests/catch.hpp"

using namespace tempera::reference;

namespace {

ParallelTempering chain_of(std::string_view model, std::size_t horizon, std::string_view ladder) {
  return {FixedHorizonSpace(parse_finite_model(model, "model"), horizon),
          parse_ladder(ladder, "ladder"), RestartLaw::uniform(horizon)};
}

}  // namespace

TEST_CASE("where every swap is accepted a round trip of K rungs takes K rounds") {
  // The tag goes up in one sweep and down by one rung in each.
  constexpr std::string_view fair =
      R"({"name": "fair", "vocabulary": ["a", "b"], "terminal": [],
          "default": {"a": "1/2", "b": "1/2"}})";
  CHECK(mean_round_trip(chain_of(fair, 1, "1,2")) == 2);
  CHECK(mean_round_trip(chain_of(fair, 1, "1,2,4")) == 3);
  CHECK(mean_round_trip(chain_of(fair, 1, "1,2,4,8")) == 4);
}

TEST_CASE("two rungs take 2/a rounds, a being the acceptance at equilibrium") {
  const ParallelTempering chain = chain_of(four_state_model, 2, "1,3");
  const Rational a = expected_swap_acceptance(chain.rung_target(0), chain.rung_target(1));
  CHECK(a < 1);
  CHECK(mean_round_trip(chain) == 2 / a);
}
