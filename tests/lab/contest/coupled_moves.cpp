#include "lab/contest/coupled_moves.hpp"

#include <algorithm>
#include <cmath>

#include "lab/enumerate/finite_model_file.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/swap.hpp"
#include "runs/coupling/coupled_runs.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::coupled_moves_test {

using lab::CoupledMoves;
using lab::Coupling;
using reference::Law;
using reference::Matrix;
using reference::Rational;

namespace {

/// The common part of the laws of the next state after x and y.
Rational overlap(const Matrix& kernel, std::size_t x, std::size_t y) {
  Rational sum = 0;
  for (std::size_t to = 0; to < kernel.columns(); ++to)
    sum += std::min(kernel(x, to), kernel(y, to));
  return sum;
}

/// The probability that both records are equal.
Rational meets(const Matrix& both) {
  Rational sum = 0;
  for (std::size_t to = 0; to < both.rows(); ++to) sum += both(to, to);
  return sum;
}

/// Requires that X alone moves by row x of the kernel, and Y by row y.
void require_marginals(const Matrix& both, const Matrix& kernel, std::size_t x, std::size_t y) {
  for (std::size_t to = 0; to < both.rows(); ++to) {
    Rational of_x = 0;
    Rational of_y = 0;
    for (std::size_t other = 0; other < both.rows(); ++other) {
      of_x += both(to, other);
      of_y += both(other, to);
    }
    REQUIRE(of_x == kernel(x, to));
    REQUIRE(of_y == kernel(y, to));
  }
}

}  // namespace

// From r on, the laws of two records that share all before it have the same proposals, so that both
// accept the same one with the smaller of their acceptances; those of others have nothing in
// common.
TEST_CASE("no coupling of a local move at a position makes records meet sooner than shared words") {
  struct Case {
    const char* model;
    std::size_t horizon;
    const char* power;
  };
  std::size_t between = 0;
  for (const auto& [name, horizon, power] :
       {Case{"bimodal", 3, "4"}, Case{"late_payoff", 4, "3"}, Case{"unequal_lengths", 4, "3"},
        Case{"four_tokens", 2, "3"}, Case{"several_terminals", 3, "2"},
        Case{"zero_probabilities", 3, "3"}, Case{"ties", 3, "3"}}) {
    CAPTURE(name);
    const auto model = shipped(name);
    const reference::FixedHorizonSpace space(model, horizon);
    const auto alpha = reference::parse_power(power, "test");
    const CoupledMoves moves(space, alpha);
    for (std::size_t r = 1; r <= horizon; ++r) {
      const Matrix kernel = reference::fixed_horizon_kernel_at(space, alpha, r);
      for (std::size_t x = 0; x < space.size(); ++x)
        for (std::size_t y = 0; y < space.size(); ++y) {
          const Matrix both = moves.after(x, y, r, Coupling::words);
          require_marginals(both, kernel, x, y);
          REQUIRE(meets(both) == overlap(kernel, x, y));
          if (x != y && meets(both) > 0 && meets(both) < 1) ++between;
          require_marginals(moves.after(x, y, r, Coupling::tokens), kernel, x, y);
        }
    }
    const Matrix whole =
        reference::fixed_horizon_kernel(space, alpha, reference::RestartLaw::uniform(horizon));
    for (std::size_t y = 0; y < space.size(); ++y) {
      const Matrix both = moves.after(0, y, Coupling::moves);
      require_marginals(both, whole, 0, y);
      REQUIRE(meets(both) == overlap(whole, 0, y));
    }
  }
  REQUIRE(between > 50);
}

TEST_CASE("no coupling of a swap makes two pairs of records meet sooner than a shared word") {
  const auto model = shipped("unequal_lengths");
  const reference::FixedHorizonSpace space(model, 4);
  const auto at = [&](const char* power) {
    return power_target(space, reference::parse_power(power, "test"));
  };
  const Matrix accepts = reference::swap_acceptance(at("1"), at("3"));
  const std::size_t n = space.size();
  Matrix kernel(n * n, n * n);
  for (std::size_t x = 0; x < n * n; ++x) {
    const Rational& accept = accepts(x / n, x % n);
    kernel(x, x % n * n + x / n) += accept;
    kernel(x, x) += 1 - accept;
  }
  for (std::size_t x = 0; x < n * n; ++x)
    for (std::size_t y = 0; y < n * n; ++y) {
      // Only a pair of records and their exchange come to the same: if one of them swaps.
      const Rational& a = accepts(x / n, x % n);
      const Rational& b = accepts(y / n, y % n);
      Rational shared = 0;
      if (x == y)
        shared = 1;
      else if (y == x % n * n + x / n)
        shared = std::max(a, b) - std::min(a, b);
      REQUIRE(shared == overlap(kernel, x, y));
    }
}

TEST_CASE("a pair that begins is a run after its lag beside another start") {
  const auto model = shipped("late_payoff");
  const reference::FixedHorizonSpace space(model, 4);
  const auto ladder = reference::parse_ladder("4", "test");
  const Matrix kernel =
      reference::fixed_horizon_kernel(space, ladder[0], reference::RestartLaw::uniform(4));
  const Law start = CoupledMoves(space, ladder[0]).starts();
  Law ahead = start;
  for (std::size_t lag = 0; lag < 4; ++lag) {
    Rational equal = 0;
    for (std::size_t x = 0; x < start.size(); ++x) equal += ahead[x] * start[x];
    const double apart = lab::meeting_law(space, ladder, Coupling::words, lag, 1.0).front();
    // The doubles are up to 1, and fewer than a thousand of them are rounded by 2^-53 each.
    REQUIRE(std::abs(apart - 1.0 + equal.convert_to<double>()) < 1e-12);
    Law next(start.size());
    for (std::size_t x = 0; x < start.size(); ++x)
      for (std::size_t to = 0; to < start.size(); ++to) next[to] += ahead[x] * kernel(x, to);
    ahead = next;
  }
}

TEST_CASE("the pairs of certify-run meet as the enumerated coupling of their words says") {
  struct Case {
    const char* model;
    std::size_t horizon;
    std::vector<double> powers;
    const char* ladder;
  };
  constexpr std::size_t pairs = 500;
  for (const auto& [name, horizon, powers, ladder] :
       {Case{"four_state", 4, {2}, "2"}, Case{"late_payoff", 4, {1, 4}, "1,4"},
        Case{"unequal_lengths", 4, {1, 3}, "1,3"}})
    for (const std::size_t lag : {1U, 3U}) {
      CAPTURE(name, lag);
      const auto model = shipped(name);
      const reference::FixedHorizonSpace space(model, horizon);
      const auto apart = lab::meeting_law(space, reference::parse_ladder(ladder, "test"),
                                          Coupling::words, lag, 1e-9);
      const gpu::OpenedModel opened(
          lab::open_finite_model(TEMPERA_SOURCE_DIR "/toy_models/" + std::string(name) + ".json"));
      gpu::CouplingSettings settings;
      settings.request.ladder = gpu::Ladder(powers);
      settings.request.plan = {gpu::make_stages(horizon, horizon, {2}, {1}, {1}),
                               gpu::Schedule::adj, static_cast<gpu::Rung>(powers.size() - 1)};
      settings.request.terminal = opened.terminal();
      settings.request.seed = 3;
      settings.lag = lag;
      settings.pairs = pairs;
      settings.most_rounds = 100'000;
      const auto met = gpu::run_coupled(opened.model(), settings);

      // Dvoretzky, Kiefer and Wolfowitz, by Massart: a share is off by more than
      // √(ln(2/δ) / 2n) at any round with a probability of at most δ = 10^-6. Rounding of tickets
      // and of doubles is below 10^-9.
      const double most = std::sqrt(std::log(2e6) / (2.0 * pairs)) + 2e-9;
      for (std::size_t t = 0; t < apart.size(); ++t) {
        const auto late =
            std::ranges::count_if(met, [&](const auto& pair) { return *pair.meeting > t + lag; });
        REQUIRE(std::abs(static_cast<double>(late) / pairs - apart[t]) <= most);
      }
      const auto bound = *gpu::tv_bound(met, lag, 2);
      REQUIRE(std::abs(bound.mean - lab::bound_of(apart, lag, 2)) <= 5.0 * bound.error + 2e-9);
    }
}

}  // namespace tempera::coupled_moves_test
