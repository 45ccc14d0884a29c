#include "reference/kernels/exact_rejection.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/kernels/tokenwise_law.hpp"
#include "tests/reference/random_model.hpp"

namespace tempera::exact_rejection_test {

using namespace tempera;
using namespace tempera::reference;

namespace {

Rational sum(const Law& law) { return std::accumulate(law.begin(), law.end(), Rational(0)); }

/// Σ_x p0(x)^α, from the likelihoods of whole records alone.
Rational partition(const FixedHorizonSpace& space, const Power& power) {
  Rational total = 0;
  for (std::size_t x = 0; x < space.size(); ++x) total += power.raise(space.likelihood(x));
  return total;
}

/// Naively: every sequence of proposals that a limit lets begin, one after another.
void every_run(const ProposalLaw& proposal, std::size_t horizon, std::size_t left,
               const Rational& probability, Rational& drawn, Rational& tokens) {
  if (left < horizon) return;
  drawn += probability * sum(proposal.kept);
  tokens += probability * proposal.tokens;
  for (std::size_t t = 0; t <= horizon; ++t)
    if (proposal.died[t] != 0)
      every_run(proposal, horizon, left - std::max<std::size_t>(t, 1),
                probability * proposal.died[t], drawn, tokens);
}

}  // namespace

TEST_CASE("laws of exact rejection") {
  law("a proposal is kept as x with probability p0(x)^alpha, and else dies", [] {
    const FiniteModel model = random::model();
    const FixedHorizonSpace space(model, random::horizon(3));
    const Power power = random::power();
    RC_PRE(power.value() >= 1);
    const ProposalLaw proposal = proposal_law(space, power);
    for (std::size_t x = 0; x < space.size(); ++x)
      RC_ASSERT(proposal.kept[x] == power.raise(space.likelihood(x)));
    RC_ASSERT(sum(proposal.kept) == partition(space, power));
    RC_ASSERT(sum(proposal.kept) + sum(proposal.died) == 1);
    // Its tokens: those of the kept and of the dead.
    Rational tokens = 0;
    for (std::size_t x = 0; x < space.size(); ++x)
      tokens += proposal.kept[x] * Rational(space[x].length());
    for (std::size_t t = 0; t < proposal.died.size(); ++t) tokens += proposal.died[t] * Rational(t);
    RC_ASSERT(proposal.tokens == tokens);
  });
  law("whatever the limit, an answer has the law of the target", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(2);
    const FixedHorizonSpace space(model, horizon);
    const Power power = random::power();
    RC_PRE(power.value() >= 1);
    const auto limit = horizon + static_cast<std::size_t>(random::between(0, 4));
    const RejectionLaw run = rejection_law(space, power, limit);
    RC_ASSERT(run.answer == power_target(space, power));
    Rational drawn = 0, tokens = 0;
    every_run(proposal_law(space, power), horizon, limit, 1, drawn, tokens);
    RC_ASSERT(run.drawn == drawn);
    RC_ASSERT(run.tokens == tokens);
    RC_ASSERT(run.tokens <= Rational(limit));
  });
}

// A limit that cut proposals, instead of keeping them from beginning, would favour short answers.
TEST_CASE("a limit that cuts a proposal would have another law") {
  const FiniteModel model = {
      {"two", {{"a", "e"}, "test"}, {1}, {}, TokenRow{Rational(1) / 2, Rational(1) / 2}}, "test"};
  const FixedHorizonSpace space(model, 2);
  const ProposalLaw proposal = proposal_law(space, Power(2));
  CHECK(proposal.died == std::vector<Rational>{Rational(1) / 2, 0, Rational(1) / 8});
  const std::size_t short_one = space.find(std::vector<Token>{1}).value();
  const RejectionLaw run = rejection_law(space, Power(2), 2);
  CHECK(run.answer[short_one] == Rational(2) / 3);
  // After a death before the first token one token is left, which is enough for (e).
  const Rational cut = proposal.kept[short_one] * (1 + proposal.died[0]);
  CHECK(cut / (run.drawn + proposal.kept[short_one] * proposal.died[0]) == Rational(3) / 4);
  CHECK(rejection_law(space, Power(2), 3).drawn > run.drawn);
}

// k answers take n proposals; (k − 1) / (n − 1) estimates Z_α without bias, and k / n does not: Σ_n
// C(n − 1, k − 1) Z^k (1 − Z)^(n − k) (k − 1)/(n − 1), to within what is beyond the last n.
TEST_CASE("the share kept until a number of answers are drawn is unbiased without the last") {
  const Rational z = Rational(3) / 8;
  Rational unbiased = 0, biased = 0, mass = 0;
  Rational term = z * z;  // C(n − 1, 1) Z^2 (1 − Z)^(n − 2) / (n − 1)
  for (int n = 2; n < 200; ++n, term *= 1 - z) {
    mass += term * (n - 1);
    unbiased += term;
    biased += term * (n - 1) * 2 / n;
  }
  CHECK(1 - mass < Rational(1) / 1'000'000);
  CHECK(z - unbiased < 1 - mass);
  CHECK(unbiased <= z);
  CHECK(biased > z + Rational(1) / 20);
}

TEST_CASE("what is not a run of exact rejection is refused in words") {
  const FiniteModel model = {
      {"two", {{"a", "e"}, "test"}, {1}, {}, TokenRow{Rational(1) / 2, Rational(1) / 2}}, "test"};
  const FixedHorizonSpace space(model, 2);
  CHECK_THROWS_AS(proposal_law(space, Power(Rational(1) / 2)), BadInput);
  CHECK_THROWS_AS(rejection_law(space, Power(2), 1), BadInput);
}

}  // namespace tempera::exact_rejection_test
