#include "reference/model/record_space.hpp"

#include <numeric>

#include "base/error.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;
using Names = std::vector<std::string>;

TEST_CASE("records are listed depth-first in vocabulary order") {
  CHECK(FixedHorizonSpace(four_state(), 2).names() == Names{"a a", "a e", "e"});
  CHECK(ComparisonSpace(four_state(), 2).names() == Names{"a", "a a", "a e", "e"});
  CHECK(FixedHorizonSpace(four_state(), 3).names() == Names{"a a a", "a a e", "a e", "e"});
  CHECK(FixedHorizonSpace(four_state(), 0).names() == Names{""});
}

TEST_CASE("tokens of probability zero are never listed") {
  const FiniteModel model = parse_finite_model(
      R"({"name": "m", "vocabulary": ["a", "b", "e", "f"], "terminal": ["e", "f"],
          "default": {"a": "1/2", "f": "1/2"}})",
      "m");
  CHECK(FixedHorizonSpace(model, 2).names() == Names{"a a", "a f", "f"});
}

TEST_CASE("the comparison space knows which records are censored too early") {
  const ComparisonSpace space(four_state(), 2);
  CHECK_FALSE(space.in_fixed_horizon_space(0));
  CHECK(space.in_fixed_horizon_space(1));
  CHECK(space.in_fixed_horizon_space(3));
  CHECK(space.likelihood(0) == Rational(1, 2));
  CHECK(base_law(space)[0] == 0);
}

TEST_CASE("a record is found by its text, or refused with the reason") {
  const FixedHorizonSpace space(four_state(), 2);
  CHECK(space.parse("a e", "--start") == 1);
  CHECK_THROWS_WITH(space.parse("a z", "--start"), Catch::Contains("unknown token \"z\""));
  CHECK_THROWS_WITH(space.parse("e a", "--start"), Catch::Contains("after a terminal token"));
  CHECK_THROWS_WITH(space.parse("a", "--start"), Catch::Contains("wrong length for horizon 2"));
  CHECK_THROWS_WITH(space.parse("a a a", "--start"), Catch::Contains("wrong length"));
  CHECK_THROWS_WITH(space.parse("", "--start"), Catch::Contains("wrong length"));
  CHECK(ComparisonSpace(four_state(), 2).parse("a", "--start") == 0);
  CHECK_THROWS_WITH(ComparisonSpace(four_state(), 2).parse("", "--start"),
                    Catch::Contains("wrong length"));
  const FiniteModel certain = parse_finite_model(
      R"({"name": "m", "vocabulary": ["a", "e"], "terminal": ["e"], "default": {"a": 1}})", "m");
  CHECK_THROWS_WITH(FixedHorizonSpace(certain, 1).parse("e", "--start"),
                    Catch::Contains("probability zero"));
}

TEST_CASE("a space above the limit is refused with its size") {
  const FiniteModel coin = parse_finite_model(
      R"({"name": "coin", "vocabulary": ["a", "b"], "terminal": [],
          "default": {"a": "1/2", "b": "1/2"}})",
      "coin.json");
  CHECK(FixedHorizonSpace(coin, 10).size() == 1024);
  CHECK_THROWS_WITH(FixedHorizonSpace(coin, 11),
                    Catch::Contains("coin.json: horizon 11 gives 2048 records") &&
                        Catch::Contains("limit of 1024"));
  CHECK_THROWS_WITH(FixedHorizonSpace(coin, 100), Catch::Contains("more than 10^30 records"));
  CHECK_THROWS_AS(ComparisonSpace(coin, 10), BadInput);
}

TEST_CASE("laws of record spaces") {
  law("p0 is a law on S_T, and every record is found where it is listed", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Law base = base_law(space);
    RC_ASSERT(std::accumulate(base.begin(), base.end(), Rational(0)) == 1);
    for (std::size_t x = 0; x < space.size(); ++x) {
      RC_ASSERT(space.find(space[x].tokens) == x);
      RC_ASSERT(space.parse(space.name(x), "test") == x);
      RC_ASSERT(space.likelihood(x) > 0);
    }
  });
}
