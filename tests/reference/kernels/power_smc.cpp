#include "reference/kernels/power_smc.hpp"

#include <map>
#include <numeric>

#include "base/error.hpp"
#include "reference/analysis/diagnostics.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/tokenwise_law.hpp"
#include "tests/reference/random_model.hpp"

namespace tempera::power_smc_test {

using namespace tempera;
using namespace tempera::reference;

namespace {

FiniteModel forked() {
  const auto q = [](int a, int b) { return Rational(a) / Rational(b); };
  return {{"forked",
           {{"a", "b", "c", "e"}, "test"},
           {3},
           {{{}, {q(1, 2), q(1, 2), q(0, 1), q(0, 1)}},
            {{0}, {q(3, 5), q(0, 1), q(0, 1), q(2, 5)}},
            {{1}, {q(1, 4), q(1, 4), q(1, 4), q(1, 4)}},
            {{0, 0}, {q(9, 10), q(0, 1), q(0, 1), q(1, 10)}}},
           TokenRow{q(1, 3), q(1, 3), q(0, 1), q(1, 3)}},
          "test"};
}

/// Without resampling the final draw is self-normalised importance sampling: over all tuples of
/// records that g draws, one in proportion to p0^α / g.
Law importance_sampling(const FixedHorizonSpace& space, const Power& power, std::size_t particles) {
  const Law g = tokenwise_law(space, power);
  Law answer(space.size());
  std::vector<std::size_t> drawn(particles);
  while (true) {
    Rational probability = 1;
    Rational total = 0;
    std::vector<Rational> weights;
    for (const std::size_t x : drawn) {
      probability *= g[x];
      weights.push_back(g[x] == 0 ? Rational(0) : power.raise(space.likelihood(x)) / g[x]);
      total += weights.back();
    }
    for (std::size_t i = 0; i < particles && probability != 0; ++i)
      answer[drawn[i]] += probability * weights[i] / total;
    std::size_t i = 0;
    while (i < particles && ++drawn[i] == space.size()) drawn[i++] = 0;
    if (i == particles) return answer;
  }
}

}  // namespace

TEST_CASE("laws of PowerSMC") {
  law("one particle is tokenwise sampling; two are never resampled", [] {
    const FiniteModel model = random::model();
    const FixedHorizonSpace space(model, random::horizon(2));
    const Power power = random::power();
    const auto interval = static_cast<std::size_t>(random::between(1, 2));
    const Law tokenwise = tokenwise_law(space, power);
    const ParticleLaw one = power_smc_law(space, interval, power, 1);
    RC_ASSERT(one.answer == tokenwise);
    RC_ASSERT(one.tokens == expected_length(space, tokenwise));
    // An ESS of two particles is at least 1 = N/2.
    const ParticleLaw two = power_smc_law(space, interval, power, 2);
    RC_ASSERT(two.answer == importance_sampling(space, power, 2));
    RC_ASSERT(two.tokens == 2 * one.tokens);
  });
}

TEST_CASE("three particles are resampled where their weights differ by enough, and only there") {
  const FixedHorizonSpace space(forked(), 3);
  const Power power(4);
  const ParticleLaw three = power_smc_law(space, 1, power, 3);
  CHECK(std::accumulate(three.answer.begin(), three.answer.end(), Rational(0)) == 1);
  // If no resampling took place the law would be this one.
  CHECK(three.answer != importance_sampling(space, power, 3));
  // More particles come nearer to the target.
  const Law target = power_target(space, power);
  const auto distance = [&](std::size_t particles) {
    return total_variation(power_smc_law(space, 1, power, particles).answer, target);
  };
  CHECK(distance(3) < distance(2));
  CHECK(distance(2) < distance(1));
  // After one token all weights are the same: looking at them there changes nothing. Resampling
  // just before the final draw is unbiased, so it changes nothing either.
  CHECK(three.answer == power_smc_law(space, 2, power, 3).answer);
  CHECK(power_smc_law(space, 3, power, 3).answer == importance_sampling(space, power, 3));
}

TEST_CASE("a ramp ends at the whole power for every record") {
  const auto q = [](int a, int b) { return Rational(a) / Rational(b); };
  // b 2/3, e 1/3, then either: (e) has ended before the power rises from 1 to 2.
  const FiniteModel model(
      {"ramp", {{"b", "e"}, "test"}, {1}, {{{}, {q(2, 3), q(1, 3)}}}, TokenRow{q(1, 2), q(1, 2)}},
      "test");
  const FixedHorizonSpace space(model, 2);
  const Law two = power_smc_law(space, 1, {Power(1), Power(2)}, 2).answer;
  // Two particles are never resampled. The first token comes from p0, the second from g_2, which is
  // p0 here. (e) weighs p0^2 / p0 = 1/3, and (b b), (b e) weigh (1/3)^2 / (1/3) = 1/3 each.
  CHECK(two == Law{q(1, 3), q(1, 3), q(1, 3)});
  CHECK(power_target(space, Power(2)) == two);
  CHECK(power_smc_law(space, 1, {Power(2), Power(2)}, 3).answer ==
        power_smc_law(space, 1, Power(2), 3).answer);
  // One interval is at the last power.
  CHECK(power_smc_law(space, 2, {Power(1), Power(2)}, 2).answer ==
        power_smc_law(space, 2, Power(2), 2).answer);
  CHECK_THROWS_AS(power_smc_law(space, 1, std::vector<Power>{}, 2), BadInput);
}

TEST_CASE("what is not a run of particles is refused in words") {
  const FixedHorizonSpace space(forked(), 3);
  CHECK_THROWS_AS(power_smc_law(space, 0, Power(2), 2), BadInput);
  CHECK_THROWS_AS(power_smc_law(space, 1, Power(2), 0), BadInput);
  CHECK_THROWS_AS(power_smc_law(space, 1, Power(2), 7), BadInput);
}

}  // namespace tempera::power_smc_test
