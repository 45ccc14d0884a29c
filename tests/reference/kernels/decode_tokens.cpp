#include "reference/kernels/decode_tokens.hpp"

#include "reference/kernels/tokenwise_law.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("laws of the decode tokens") {
  law("a continuation of nothing takes the length of tokenwise sampling's records", [] {
    const FiniteModel model = random::model();
    const FixedHorizonSpace space(model, random::horizon());
    const Power power = random::power();
    DecodeTokens tokens(model, power);
    RC_ASSERT(tokens.continuation({}, space.horizon()) ==
              expected_length(space, tokenwise_law(space, power)));
    const std::size_t x = random::between<std::size_t>(0, space.size() - 1);
    RC_ASSERT(tokens.continuation(space[x].tokens, space.horizon()) == 0);
    // Restart at 1 for certain regenerates everything; after the end it takes nothing.
    std::vector<Rational> first(space.horizon()), last(space.horizon());
    first.front() = last.back() = 1;
    RC_ASSERT(tokens.local_move(space[x], RestartLaw(first)) ==
              tokens.continuation({}, space.horizon()));
    const bool is_long = space[x].length() == space.horizon();
    RC_ASSERT(tokens.local_move(space[x], RestartLaw(last)) == Rational(is_long ? 1 : 0));
  });
}

TEST_CASE("a move of the truncating sampler regenerates no more than the record's own length") {
  const FiniteModel model(
      {"coin", {{"a", "e"}, "test"}, {1}, {}, TokenRow{Rational(1, 2), Rational(1, 2)}}, "test");
  DecodeTokens tokens(model, Power(1));
  const Record x{{0, 0, 1}, true};
  // From the first, second and third position: 1 + 1/2 + 1/4, 1 + 1/2 and 1 tokens.
  CHECK(tokens.truncating_move(x) == Rational(17, 12));
  // At the fixed horizon 4, r = 4 is after its end.
  CHECK(tokens.local_move(x, RestartLaw::uniform(4)) ==
        (Rational(15, 8) + Rational(7, 4) + Rational(3, 2)) / 4);
}
