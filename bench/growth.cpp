// Seconds of one exact step by number of states: the dense matrices of reference/kernels against
// the chains that carry a law without them, and how many primes these take. One rung, and rounds of
// two.
#include <cstdio>

#include "bench/seconds_of.hpp"
#include "reference/analysis/carried_laws.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/parallel_tempering.hpp"

using namespace tempera;
using bench::seconds_of;

namespace {

/// Two tokens that never end: 2^T records, the rows of three prefixes listed.
reference::FiniteModel coins() {
  const auto q = [](int a, int b) { return reference::Rational(a) / reference::Rational(b); };
  return {reference::FiniteModelParts{"coins",
                                      {{"a", "b"}, "coins"},
                                      {},
                                      {{{}, {q(2, 3), q(1, 3)}}, {{0}, {q(1, 5), q(4, 5)}}},
                                      reference::TokenRow{q(3, 7), q(4, 7)}},
          "coins"};
}

void compare(std::size_t horizon, const char* powers, bool has_dense) {
  const reference::FiniteModel model = coins();
  const auto ladder = reference::parse_ladder(powers, "powers");
  const auto restart = reference::RestartLaw::uniform(horizon);
  std::size_t states = 0, bits = 0;
  // Build and one step of total variation from the first state, in both forms.
  reference::Rational carried_distance, dense_distance;
  double built = 0.0;
  const double carried = seconds_of([&] {
    std::optional<reference::CarriedTempering> kernels;
    built = seconds_of([&] { kernels.emplace(model, horizon, ladder, restart); });
    const auto chain = kernels->transition(1, ladder.rungs() > 1 ? 1 : 0);
    states = chain.size();
    bits = msb(chain.denominator());
    carried_distance = reference::total_variation_curve(*kernels, {chain}, 0, 1)[1];
  });
  if (!has_dense) {
    std::printf("%10zu %4zu %9s %10zu %12.3f %12.3f %12s %10s\n", states, horizon, powers, bits,
                built, carried, "-", "-");
    return;
  }
  const double dense = seconds_of([&] {
    const reference::FixedHorizonSpace space(model, horizon);
    const reference::ParallelTempering kernels(space, ladder, restart);
    dense_distance = reference::total_variation_curve(
        {kernels.transition(1, ladder.rungs() > 1 ? 1 : 0)}, 0, kernels.target(), 1)[1];
  });
  std::printf("%10zu %4zu %9s %10zu %12.3f %12.3f %12.3f %10.1f%s\n", states, horizon, powers, bits,
              built, carried, dense, dense / carried,
              carried_distance == dense_distance ? "" : "  DIFFERENT");
}

}  // namespace

int main() {
  std::printf("%10s %4s %9s %10s %12s %12s %12s %10s\n", "states", "T", "powers", "bits",
              "build, s", "carried, s", "dense, s", "dense/car.");
  for (const std::size_t horizon : {6U, 8U, 10U}) compare(horizon, "2", true);
  for (const std::size_t horizon : {12U, 14U, 16U, 18U, 20U}) compare(horizon, "2", false);
  for (const std::size_t horizon : {3U, 4U, 5U, 6U}) compare(horizon, "1,2", true);
  for (const std::size_t horizon : {8U, 10U}) compare(horizon, "1,2", false);
}
