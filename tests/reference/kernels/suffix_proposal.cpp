#include "reference/kernels/suffix_proposal.hpp"

#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("by symmetry the four-state full restart proposes the base law") {
  const FixedHorizonSpace space(four_state(), 2);
  const SuffixProposal proposal(space, Power(2));
  for (std::size_t y = 0; y < space.size(); ++y) {
    CHECK(proposal(1, 0, y) == space.likelihood(y));
  }
  CHECK(proposal(2, 0, 1) == Rational(1, 2));
  CHECK(proposal(2, 0, 2) == 0);  // e does not begin with a
  CHECK(proposal(2, 2, 2) == 1);  // nothing follows e but padding
  CHECK(proposal.token(2, 2) == 1);
}

TEST_CASE("laws of the suffix proposal") {
  law("q_r(. | x) sums to one", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const SuffixProposal proposal(space, random::power());
    for (std::size_t r = 1; r <= space.horizon(); ++r) {
      for (std::size_t x = 0; x < space.size(); ++x) {
        Rational total = 0;
        for (std::size_t y = 0; y < space.size(); ++y) total += proposal(r, x, y);
        RC_ASSERT(total == 1);
      }
    }
  });

  // eq:implementation-local-cached-ratio: what the sampler computes from cached normalizers.
  law("the Metropolis-Hastings ratio is the ratio of token normalizers", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const SuffixProposal proposal(space, power);
    const Law target = power_target(space, power);
    const auto normalizers = [&](std::size_t x, std::size_t r) {
      Rational product = 1;
      const auto& tokens = space[x].tokens;
      for (std::size_t t = r; t <= tokens.size(); ++t) {
        product *= token_normalizer(space.model().token_row(std::span(tokens).first(t - 1)), power);
      }
      return product;
    };
    for (std::size_t x = 0; x < space.size(); ++x) {
      for (std::size_t y = 0; y < space.size(); ++y) {
        if (x == y) continue;
        for (std::size_t r = 1; r <= last_shared_restart(space[x], space[y]); ++r) {
          const Rational ratio = target[y] * proposal(r, y, x) / (target[x] * proposal(r, x, y));
          RC_ASSERT(ratio == normalizers(y, r) / normalizers(x, r));
        }
      }
    }
  });
}
