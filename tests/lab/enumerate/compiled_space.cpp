#include "lab/enumerate/compiled_space.hpp"

#include "base/error.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;

// A float32 logit errs by 2^-24 of itself, which moves a likelihood by less than T |ℓ| 2^-24 of
// itself: 1e-6 at T |ℓ| = 16.
TEST_CASE("the compiled space lists the reference's records in its order") {
  for (const char* name :
       {"four_state", "unequal_lengths", "several_terminals", "ties", "zero_probabilities"}) {
    INFO(name);
    const reference::FiniteModel model = shipped(name);
    const lab::FiniteLogits logits(model);
    const lab::CompiledSpace space(logits.enumerable(), 3);
    const reference::FixedHorizonSpace exact(model, 3);
    REQUIRE(space.size() == exact.size());
    lab::Real total = 0;
    for (std::size_t s = 0; s < space.size(); ++s) {
      CHECK(space.find(space.tokens(s)) == s);
      const lab::Real p = lab::to_real(exact.likelihood(s));
      CHECK(abs(space.likelihood(s) - p) <= 1e-6 * p);
      total += space.likelihood(s);
    }
    CHECK(abs(total - 1) < 1e-45);
  }
}

TEST_CASE("its target is the likelihood to the power, normalised") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const lab::CompiledSpace space(logits.enumerable(), 2);
  REQUIRE(space.size() == 3);
  CHECK(space.name(0) == "a a");
  CHECK(space.name(2) == "e");
  const auto target = space.own_target(2.0);
  CHECK(abs(target[0] - lab::Real(1) / 6) < 1e-45);
  CHECK(abs(target[2] - lab::Real(2) / 3) < 1e-45);
}

TEST_CASE("a space above its limit is refused") {
  const lab::FiniteLogits logits(shipped("four_state"));
  CHECK(lab::CompiledSpace(logits.enumerable(), 5, 6).size() == 6);
  CHECK_THROWS_AS(lab::CompiledSpace(logits.enumerable(), 5, 5), tempera::BadInput);
}
