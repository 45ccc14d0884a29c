#include "reference/numbers/common_denominator.hpp"

#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("one denominator serves all and is the least") {
  const auto shared = over_common_denominator({Rational(1, 4), Rational(5, 6), Rational(0)});
  CHECK(shared.denominator == 12);
  CHECK(shared.numerators == std::vector<Integer>{3, 10, 0});
}

TEST_CASE("laws of common denominators") {
  law("back in lowest terms are the values themselves", [] {
    const auto values = random::weights(5);
    RC_ASSERT(in_lowest_terms(over_common_denominator(values)) == values);
  });
}
