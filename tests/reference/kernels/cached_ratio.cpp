#include "reference/kernels/cached_ratio.hpp"

#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the cached ratio of the four-state records counts their normalizers") {
  const FixedHorizonSpace space(four_state(), 2);  // a a, a e, e; z = 1/2 at each open history
  const Power two(Rational(2));
  CHECK(cached_ratio(space, two, 0, 2, 1) == 2);
  CHECK(cached_ratio(space, two, 2, 0, 1) == q("1/2"));
  CHECK(cached_ratio(space, two, 0, 1, 1) == 1);
  CHECK(cached_ratio(space, two, 0, 1, 2) == 1);
}

TEST_CASE("laws of the cached ratio") {
  law("it is the Metropolis-Hastings ratio of target and proposal", [] {
    const FiniteModel model = random::model();
    const FixedHorizonSpace space(model, random::horizon());
    const Power power = random::power();
    const Law target = power_target(space, power);
    const SuffixProposal proposal(space, power);
    const std::size_t x = random::between<std::size_t>(0, space.size() - 1);
    const std::size_t y = random::between<std::size_t>(0, space.size() - 1);
    if (x == y) return;
    for (std::size_t r = 1; r <= last_shared_restart(space[x], space[y]); ++r)
      RC_ASSERT(cached_ratio(space, power, x, y, r) ==
                target[y] * proposal(r, y, x) / (target[x] * proposal(r, x, y)));
  });
}
