#include "reference/kernels/token_proposal.hpp"

#include <numeric>

#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the tokenwise proposal is the powered row over its normalizer") {
  const TokenRow row{Rational(2, 3), Rational(1, 3), Rational(0)};
  CHECK(token_normalizer(row, Power(2)) == Rational(5, 9));
  CHECK(token_proposal(row, Power(2)) == TokenRow{Rational(4, 5), Rational(1, 5), Rational(0)});
}

TEST_CASE("laws of the tokenwise proposal") {
  law("it sums to one, has the row's support, and is the row at power 1", [] {
    const TokenRow row = random::weights(4);
    const TokenRow proposal = token_proposal(row, random::power());
    RC_ASSERT(std::accumulate(proposal.begin(), proposal.end(), Rational(0)) == 1);
    for (std::size_t v = 0; v < row.size(); ++v) RC_ASSERT((row[v] == 0) == (proposal[v] == 0));
    RC_ASSERT(token_proposal(row, Power(1)) == row);
  });
}
