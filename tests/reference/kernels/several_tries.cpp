// Delayed rejection and several proposals: exact kernels that are compared, and not shipped.
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/kernels/delayed_rejection_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/several_proposals_kernel.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

bool is_balanced(const FixedHorizonSpace& space, const Power& power, const Matrix& kernel) {
  return !first_violation_of_detailed_balance(FactoredKernel(kernel), power_target(space, power),
                                              token_counts(space));
}

/// Two stages at one position, the second accepted with the plain ratio as if nothing had been
/// rejected (`naive`), or with both proposals drawn anew from their paths.
Matrix two_stages(const FixedHorizonSpace& space, const Power& power, bool naive) {
  const Law target = power_target(space, power);
  const SuffixProposal q(space, power);
  const std::size_t n = space.size(), T = space.horizon();
  const auto a = [&](std::size_t r, std::size_t x, std::size_t y) {
    const Rational ratio = target[y] * q(r, y, x) / (target[x] * q(r, x, y));
    return ratio < 1 ? ratio : Rational(1);
  };
  // flow(r, x, y, z): of going from x by a rejected y to a proposed z.
  const auto flow = [&](std::size_t r, std::size_t x, std::size_t y, std::size_t z) {
    return Rational(target[x] * q(r, x, y) * (1 - a(r, x, y)) * q(r, x, z));
  };
  Matrix kernel(n, n);
  for (std::size_t x = 0; x < n; ++x) {
    Rational left = 0;
    for (std::size_t r = 1; r <= T; ++r)
      for (std::size_t y = 0; y < n; ++y) {
        if (q(r, x, y) == 0) continue;
        if (y != x) kernel(x, y) += q(r, x, y) * a(r, x, y) / T;
        for (std::size_t z = 0; z < n; ++z) {
          if (z == x || q(r, x, z) == 0 || a(r, x, y) == 1) continue;
          const Rational way = flow(r, x, y, z);
          const Rational back = flow(r, z, y, x);
          const Rational accepted = naive ? a(r, x, z) : Rational(back < way ? back / way : 1);
          kernel(x, z) += way * accepted / (target[x] * T);
        }
      }
    for (std::size_t z = 0; z < n; ++z)
      if (z != x) left += kernel(x, z);
    kernel(x, x) = 1 - left;
  }
  return kernel;
}

FiniteModel three_ways() {
  return {{"three",
           {{"a", "b", "e"}, "test"},
           {2},
           {{{}, {Rational(1, 2), Rational(1, 3), Rational(1, 6)}},
            {{0}, {Rational(1, 5), Rational(1, 5), Rational(3, 5)}},
            {{1}, {Rational(1, 10), Rational(7, 10), Rational(1, 5)}}},
           TokenRow{Rational(1, 4), Rational(1, 4), Rational(1, 2)}},
          "test"};
}

}  // namespace

TEST_CASE("laws of delayed rejection") {
  law("both forms are kernels in detailed balance, and move no less than the paper's", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const Power power = random::power();
    const RestartLaw restart = random::restart(space.horizon());
    const Matrix once = fixed_horizon_kernel(space, power, restart);
    for (const auto second : {SecondRestart::same, SecondRestart::later}) {
      const Matrix kernel = delayed_rejection_kernel(space, power, restart, second);
      const auto tokens = delayed_rejection_tokens(space, power, restart, second);
      DecodeTokens paper(space.model(), power);
      RC_ASSERT(is_balanced(space, power, kernel));
      for (std::size_t x = 0; x < space.size(); ++x) {
        RC_ASSERT(kernel(x, x) >= 0);
        RC_ASSERT(tokens[x] >= paper.local_move(space[x], restart));
        for (std::size_t y = 0; y < space.size(); ++y)
          if (x != y) RC_ASSERT(kernel(x, y) >= once(x, y));
      }
    }
  });
}

TEST_CASE(
    "delayed rejection is the law of its paths, and its second acceptance must see the first") {
  const FixedHorizonSpace space(three_ways(), 3);
  const Power power(2);
  CHECK(delayed_rejection_kernel(space, power, RestartLaw::uniform(3), SecondRestart::same) ==
        two_stages(space, power, false));
  CHECK_FALSE(is_balanced(space, power, two_stages(space, power, true)));
}

TEST_CASE("laws of several proposals") {
  law("one is the paper's kernel; more are in detailed balance, with the tokens of their number",
      [] {
        const FixedHorizonSpace space(random::model(), random::horizon(2));
        const Power power = random::power();
        const RestartLaw restart = random::restart(space.horizon());
        RC_ASSERT(several_proposals_kernel(space, power, restart, 1) ==
                  fixed_horizon_kernel(space, power, restart));
        for (const std::size_t proposals : {2U, 3U}) {
          const Matrix kernel = several_proposals_kernel(space, power, restart, proposals);
          RC_ASSERT(is_balanced(space, power, kernel));
          for (std::size_t x = 0; x < space.size(); ++x) RC_ASSERT(kernel(x, x) >= 0);
        }
      });
}

// Two proposals by pairs: each is drawn, one chosen, accepted against what is left and x.
TEST_CASE("two proposals are the law of their pairs, and the plain ratio breaks it") {
  const FixedHorizonSpace space(three_ways(), 2);
  const Power power(2);
  const Law target = power_target(space, power);
  const SuffixProposal q(space, power);
  const auto kernel_of = [&](bool plain) {
    Matrix kernel(space.size(), space.size());
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t r = 1; r <= 2; ++r)
        for (std::size_t y = 0; y < space.size(); ++y)
          for (std::size_t z = 0; z < space.size(); ++z) {
            const Rational drawn = q(r, x, y) * q(r, x, z) / 2;
            if (drawn == 0) continue;
            const auto w = [&](std::size_t s) { return Rational(target[s] / q(r, x, s)); };
            const auto choose = [&](std::size_t chosen, std::size_t other) {
              const Rational share = w(chosen) / (w(y) + w(z));
              const Rational ratio =
                  plain ? Rational(w(chosen) / w(x)) : Rational((w(y) + w(z)) / (w(x) + w(other)));
              const Rational accepted = ratio < 1 ? ratio : Rational(1);
              kernel(x, chosen) += drawn * share * accepted;
              kernel(x, x) += drawn * share * (1 - accepted);
            };
            choose(y, z);
            choose(z, y);
          }
    return kernel;
  };
  CHECK(several_proposals_kernel(space, power, RestartLaw::uniform(2), 2) == kernel_of(false));
  CHECK_FALSE(is_balanced(space, power, kernel_of(true)));
}
