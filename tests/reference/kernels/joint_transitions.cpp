// The joint transitions of three rungs, entry by entry, from the paper's formulas written out here:
// no function of reference/ makes what is expected.
#include <algorithm>
#include <array>

#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "tests/reference/four_state.hpp"

using namespace tempera::reference;

namespace {

// Two tokens, horizon 2: after nothing a 2/3, e 1/3; after a: a 1/4, e 3/4. Records a a, a e, e.
constexpr std::size_t records = 3;
constexpr std::size_t rungs = 3;
const std::array<Rational, records> p0{Rational(1, 6), Rational(1, 2), Rational(1, 3)};
const std::array<unsigned, rungs> powers{1, 2, 4};
const std::array<Rational, 2> omega{Rational(1, 5), Rational(4, 5)};

FiniteModel model() {
  return {{"biased",
           {{"a", "e"}, "test"},
           {1},
           {{{0}, {q("1/4"), q("3/4")}}},
           TokenRow{q("2/3"), q("1/3")}},
          "test"};
}

Rational power(const Rational& base, unsigned exponent) {
  Rational result = 1;
  for (unsigned i = 0; i < exponent; ++i) result *= base;
  return result;
}

// q_r(y | x), r = 1 or 2, padding included.
Rational proposal(std::size_t r, std::size_t x, std::size_t y, unsigned alpha) {
  const Rational first_a = power(q("2/3"), alpha), first_e = power(q("1/3"), alpha);
  const Rational then_a = power(q("1/4"), alpha), then_e = power(q("3/4"), alpha);
  const Rational g_a = first_a / (first_a + first_e), g_e = first_e / (first_a + first_e);
  const std::array<Rational, 2> g_then{then_a / (then_a + then_e), then_e / (then_a + then_e)};
  if (r == 1) return y == 2 ? g_e : Rational(g_a * g_then[y]);
  if (x == 2) return y == 2 ? 1 : 0;  // the first token e: what follows is padding
  return y == 2 ? Rational(0) : g_then[y];
}

// L_k(x, y).
Rational local(std::size_t x, std::size_t y, unsigned alpha) {
  Rational entry = 0;
  Rational stays = 1;
  for (std::size_t r = 1; r <= 2; ++r)
    for (std::size_t z = 0; z < records; ++z) {
      if (z == x || proposal(r, x, z, alpha) == 0) continue;
      const Rational ratio = power(p0[z], alpha) * proposal(r, z, x, alpha) /
                             (power(p0[x], alpha) * proposal(r, x, z, alpha));
      const Rational flow = omega[r - 1] * proposal(r, x, z, alpha) * std::min(Rational(1), ratio);
      stays -= flow;
      if (z == y) entry += flow;
    }
  return x == y ? stays : entry;
}

using State = std::array<std::size_t, rungs>;
using Step = std::vector<std::vector<Rational>>;  // [27][27]

std::size_t index(const State& s) { return 9 * s[0] + 3 * s[1] + s[2]; }

template <class Visit>
void each_state(Visit&& visit) {
  for (std::size_t a = 0; a < records; ++a)
    for (std::size_t b = 0; b < records; ++b)
      for (std::size_t c = 0; c < records; ++c) visit(State{a, b, c});
}

Step local_step() {
  Step step(27, std::vector<Rational>(27));
  each_state([&](const State& x) {
    each_state([&](const State& y) {
      Rational& entry = step[index(x)][index(y)] = 1;
      for (std::size_t k = 0; k < rungs; ++k) entry *= local(x[k], y[k], powers[k]);
    });
  });
  return step;
}

// The swap of rungs k and k + 1, k from 0.
Step swap_step(std::size_t k) {
  Step step(27, std::vector<Rational>(27));
  each_state([&](const State& x) {
    const Rational ratio = power(p0[x[k]] / p0[x[k + 1]], powers[k + 1] - powers[k]);
    const Rational accepted = std::min(Rational(1), ratio);
    State y = x;
    std::swap(y[k], y[k + 1]);
    step[index(x)][index(y)] += accepted;
    step[index(x)][index(x)] += 1 - accepted;
  });
  return step;
}

Step then(const Step& first, const Step& second) {
  Step product(27, std::vector<Rational>(27));
  for (std::size_t x = 0; x < 27; ++x)
    for (std::size_t z = 0; z < 27; ++z)
      for (std::size_t y = 0; first[x][z] != 0 && y < 27; ++y)
        product[x][y] += first[x][z] * second[z][y];
  return product;
}

// How many entries of the kernel are not the step's.
std::size_t differences(const FactoredKernel& kernel, const Step& step) {
  const Matrix matrix = kernel.matrix();
  REQUIRE(matrix.rows() == 27);
  REQUIRE(matrix.columns() == 27);
  std::size_t differ = 0;
  for (std::size_t x = 0; x < 27; ++x)
    for (std::size_t y = 0; y < 27; ++y) differ += matrix(x, y) != step[x][y] ? 1 : 0;
  return differ;
}

ParallelTempering kernels() {
  return {FixedHorizonSpace(model(), 2), parse_ladder("1,2,4", "test"),
          RestartLaw({omega[0], omega[1]})};
}

}  // namespace

TEST_CASE("the ordered transition of three rungs is R and then the edges from the lowest up") {
  const Step r = local_step();
  const Step upwards = then(swap_step(0), swap_step(1));
  const Step downwards = then(swap_step(1), swap_step(0));
  const ParallelTempering chain = kernels();
  CHECK(differences(chain.local_sweep(), r) == 0);
  CHECK(differences(chain.swap(1), swap_step(0)) == 0);
  CHECK(differences(chain.swap(2), swap_step(1)) == 0);
  CHECK(differences(chain.ordered_sweep(), upwards) == 0);
  CHECK(differences(chain.transition(1, 1), then(r, upwards)) == 0);
  CHECK(differences(chain.transition(2, 1), then(r, then(r, upwards))) == 0);
  CHECK(differences(chain.transition(1, 2), then(r, then(upwards, upwards))) == 0);
  // The case tells them apart.
  CHECK(differences(chain.ordered_sweep(), downwards) > 10);
  CHECK(differences(chain.transition(1, 1), then(r, downwards)) > 100);
  CHECK(differences(chain.transition(1, 1), then(upwards, r)) > 100);
}

TEST_CASE("the even-odd transition of three rungs is R, the lower edge, R, the upper edge") {
  const Step r = local_step();
  const ParallelTempering chain = kernels();
  CHECK(differences(chain.odd_layer(), swap_step(0)) == 0);
  CHECK(differences(chain.even_layer(), swap_step(1)) == 0);
  CHECK(differences(chain.deo_transition(), then(then(r, swap_step(0)), then(r, swap_step(1)))) ==
        0);
  CHECK(differences(chain.deo_transition(), then(then(r, swap_step(1)), then(r, swap_step(0)))) >
        100);
}

TEST_CASE("the curves of both schedules are half the sums of absolute differences") {
  const ParallelTempering chain = kernels();
  Law target(27);
  std::array<Rational, rungs> z;
  for (std::size_t k = 0; k < rungs; ++k)
    for (const Rational& p : p0) z[k] += power(p, powers[k]);
  each_state([&](const State& x) {
    target[index(x)] = 1;
    for (std::size_t k = 0; k < rungs; ++k) target[index(x)] *= power(p0[x[k]], powers[k]) / z[k];
  });
  CHECK(chain.target() == target);
  FactoredKernel odd = chain.local_sweep(), even = chain.local_sweep();
  odd.then(chain.odd_layer());
  even.then(chain.even_layer());
  const Step r = local_step();
  const std::vector<Step> adj{then(r, then(swap_step(0), swap_step(1)))};
  const std::vector<Step> deo{then(r, swap_step(0)), then(r, swap_step(1))};
  const auto expect = [&](const std::vector<FactoredKernel>& schedule,
                          const std::vector<Step>& steps) {
    const std::size_t start = index({0, 2, 1});
    const auto curve = total_variation_curve(schedule, start, target, 5);
    REQUIRE(curve.size() == 6);
    std::vector<Rational> law(27);
    law[start] = 1;
    for (std::size_t n = 0; n <= 5; ++n) {
      Rational absolute = 0;
      for (std::size_t s = 0; s < 27; ++s)
        absolute += law[s] > target[s] ? law[s] - target[s] : target[s] - law[s];
      CAPTURE(n);
      CHECK(curve[n] == absolute / 2);
      std::vector<Rational> next(27);
      for (std::size_t s = 0; s < 27; ++s)
        for (std::size_t t = 0; t < 27; ++t) next[t] += law[s] * steps[n % steps.size()][s][t];
      law = next;
    }
  };
  expect({chain.transition(1, 1)}, adj);
  expect({odd, even}, deo);
}
