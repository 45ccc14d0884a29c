#include "reference/kernels/continuation_mass.hpp"

#include "reference/kernels/power_target.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("sequence power is not tokenwise temperature") {
  const FixedHorizonSpace space(four_state(), 2);
  CHECK(continuation_mass(space, Power(2), {}, 0) == Rational(1, 2));
  CHECK(continuation_mass(space, Power(2), {}, 1) == 1);
  const TokenRow conditional = power_conditional(space, Power(2), {});
  CHECK(conditional == TokenRow{Rational(1, 3), Rational(2, 3)});
  CHECK(conditional != token_proposal(four_state().token_row({}), Power(2)));
}

TEST_CASE("laws of the powered continuation") {
  law("the power conditionals multiply to the power target", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const Law target = power_target(space, power);
    for (std::size_t x = 0; x < space.size(); ++x) {
      const auto& tokens = space[x].tokens;
      Rational product = 1;
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        product *= power_conditional(space, power, std::span(tokens).first(t))[tokens[t]];
      }
      RC_ASSERT(product == target[x]);
    }
  });
  law("at the horizon the continuation is empty and has mass one on supported tokens", [] {
    const FixedHorizonSpace space(random::model(), 1);
    const TokenRow& row = space.model().token_row({});
    for (Token v = 0; v < row.size(); ++v) {
      RC_ASSERT(continuation_mass(space, random::power(), {}, v) == (row[v] == 0 ? 0 : 1));
    }
  });
}
