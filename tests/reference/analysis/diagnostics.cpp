#include "reference/analysis/diagnostics.hpp"

#include "reference/kernels/token_proposal.hpp"
#include "tests/catch.hpp"

using namespace tempera::reference;

TEST_CASE("the effective sample size is the inverse sum of squares of the normalised weights") {
  CHECK(effective_sample_size({1, 1, 1}) == 3);
  CHECK(effective_sample_size({0, 5}) == 1);
  CHECK(effective_sample_size({Rational(1, 2), Rational(1, 3), Rational(1, 6)}) == Rational(18, 7));
}

TEST_CASE("the incremental weight has no variance under g, and the variance of a coin otherwise") {
  const TokenRow row{Rational(1, 4), Rational(3, 4), 0};
  const Power two{Rational(2)};
  CHECK(incremental_weight_variance(row, two, token_proposal(row, two)) == 0);
  // Weights 1/8 and 9/8 with probability 1/2 each.
  CHECK(incremental_weight_variance(row, two, {Rational(1, 2), Rational(1, 2), 0}) ==
        Rational(1, 4));
}

TEST_CASE("a certain token has no entropy, a fair coin minus log 2") {
  CHECK(negative_entropy({0, 1}, 64).lower() == 0);
  CHECK(negative_entropy({0, 1}, 64).upper() == 0);
  const Interval difference =
      negative_entropy({Rational(1, 2), Rational(1, 2)}, 64) + log(Interval(2, 64));
  CHECK(difference.lower() <= 0);
  CHECK(difference.upper() >= 0);
  CHECK(difference.upper() - difference.lower() < Rational(1, 1U << 30U));
}

TEST_CASE("a vote is the most frequent answer, then that of the greatest likelihood, or none") {
  const Rational high(1, 2), low(1, 4);
  CHECK(majority_answer({7}, {low}) == 7);
  CHECK(majority_answer({7, 2, 7}, {low, high, low}) == 7);
  CHECK(majority_answer({7, 2}, {low, high}) == 2);
  CHECK(majority_answer({7, 2, 3}, {low, high, low}) == 2);
  CHECK(majority_answer({2, 7, 3}, {low, high, high}) == std::nullopt);
  CHECK(majority_answer({7, 2}, {low, low}) == std::nullopt);
  CHECK(majority_answer({7, 2, 2, 7}, {high, low, high, high}) == 7);
}
