#include "reference/kernels/systematic_resampling.hpp"

#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("two particles of weights 3 and 1 are resampled to two of the first or one of each") {
  const auto outcomes = systematic_resampling({Rational(3), Rational(1)});
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].probability == Rational(1, 2));
  CHECK(outcomes[0].ancestors == std::vector<std::size_t>{0, 0});
  CHECK(outcomes[1].probability == Rational(1, 2));
  CHECK(outcomes[1].ancestors == std::vector<std::size_t>{0, 1});
}

TEST_CASE("laws of systematic resampling") {
  law("each particle has its share of offspring in expectation, rounded up or down always", [] {
    const auto weights = random::weights(static_cast<std::size_t>(random::between(1, 6)));
    const Rational count(weights.size());
    std::vector<Rational> expected(weights.size());
    Rational total = 0;
    for (const Offspring& outcome : systematic_resampling(weights)) {
      RC_ASSERT(outcome.probability > 0);
      RC_ASSERT(outcome.ancestors.size() == weights.size());
      total += outcome.probability;
      std::vector<Rational> offspring(weights.size());
      for (const std::size_t ancestor : outcome.ancestors) offspring[ancestor] += 1;
      for (std::size_t j = 0; j < weights.size(); ++j) {
        expected[j] += outcome.probability * offspring[j];
        const Rational error = offspring[j] - count * weights[j];
        RC_ASSERT(error > -1);
        RC_ASSERT(error < 1);
      }
    }
    RC_ASSERT(total == 1);
    for (std::size_t j = 0; j < weights.size(); ++j) RC_ASSERT(expected[j] == count * weights[j]);
  });
}
