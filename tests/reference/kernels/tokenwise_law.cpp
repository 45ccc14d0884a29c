#include "reference/kernels/tokenwise_law.hpp"

#include <numeric>

#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("low temperature sharpens each token by itself, and misses the power target") {
  // First token 2/3, 1/3; then "a" goes on 1/2, 1/2 and "b" ends for certain.
  const FiniteModel model({"short",
                           {{"a", "b", "e"}, "test"},
                           {2},
                           {{{}, {Rational(2, 3), Rational(1, 3), Rational(0)}},
                            {{0}, {Rational(1, 2), Rational(0), Rational(1, 2)}},
                            {{1}, {Rational(0), Rational(0), Rational(1)}}},
                           std::nullopt},
                          "test");
  const FixedHorizonSpace space(model, 2);
  REQUIRE(space.names() == std::vector<std::string>{"a a", "a e", "b e"});
  const Law tokenwise = tokenwise_law(space, Power(2));
  CHECK(tokenwise == Law{Rational(2, 5), Rational(2, 5), Rational(1, 5)});
  CHECK(power_target(space, Power(2)) == Law{Rational(1, 3), Rational(1, 3), Rational(1, 3)});
  CHECK(expected_length(space, tokenwise) == Rational(2));
}

TEST_CASE("laws of tokenwise sampling") {
  law("it is p0 at power 1, sums to one, and takes the length of its records", [] {
    const FiniteModel model = random::model();
    const FixedHorizonSpace space(model, random::horizon());
    const Law tokenwise = tokenwise_law(space, random::power());
    RC_ASSERT(std::accumulate(tokenwise.begin(), tokenwise.end(), Rational(0)) == 1);
    RC_ASSERT(tokenwise_law(space, Power(1)) == base_law(space));
    // Σ_t P(len >= t), by counting positions and not records.
    Rational length = 0;
    for (std::size_t t = 1; t <= space.horizon(); ++t)
      for (std::size_t x = 0; x < space.size(); ++x)
        if (space[x].length() >= t) length += tokenwise[x];
    RC_ASSERT(expected_length(space, tokenwise) == length);
  });
}
