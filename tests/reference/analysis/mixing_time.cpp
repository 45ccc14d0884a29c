#include "reference/analysis/mixing_time.hpp"

#include "reference/analysis/cuts.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/carried_tempering.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/report/mixing_report.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

bool encloses(const Bracket& bracket, const Rational& value) {
  const Rational narrow(1, 1'000'000'000);
  return bracket.lower <= value && value <= bracket.upper && bracket.upper - bracket.lower < narrow;
}

Matrix two_states(const Rational& change) {
  return matrix_of({{1 - change, change}, {change, 1 - change}});
}

const Law even{Rational(1, 2), Rational(1, 2)};

// max_x TV(δ_x P^N, π) for N = 0, 1, ..., steps.
std::vector<Rational> worst_curve(const FactoredKernel& chain, const Law& target,
                                  std::size_t steps) {
  std::vector<Rational> worst(steps + 1);
  for (std::size_t x = 0; x < target.size(); ++x) {
    const auto curve = total_variation_curve({chain}, x, target, steps);
    for (std::size_t n = 0; n <= steps; ++n) worst[n] = std::max(worst[n], curve[n]);
  }
  return worst;
}

// The least of Q(S, Sᶜ) / π(S) over the sets of states with at most half of the mass.
Rational least_conductance(const Matrix& kernel, const Law& target) {
  std::optional<Rational> least;
  for (std::size_t set = 1; set + 1 < std::size_t{1} << target.size(); ++set) {
    Rational mass = 0, flow = 0;
    for (std::size_t x = 0; x < target.size(); ++x) {
      if (((set >> x) & 1U) == 0) continue;
      mass += target[x];
      for (std::size_t y = 0; y < target.size(); ++y)
        if (((set >> y) & 1U) == 0) flow += target[x] * kernel(x, y);
    }
    if (mass > Rational(1, 2)) continue;
    const Rational conductance = flow / mass;
    if (!least || conductance < *least) least = conductance;
  }
  return *least;
}

std::vector<std::size_t> each_alone(std::size_t states) {
  std::vector<std::size_t> classes(states);
  for (std::size_t x = 0; x < states; ++x) classes[x] = x;
  return classes;
}

}  // namespace

// TV(δ_x P^N, π) = (1 - 2c)^N / 2.
TEST_CASE("the mixing time of two states, where the distance is met exactly and where it is not") {
  const auto quarter = mixing_time(two_states(Rational(1, 4)), even, Rational(1, 4));
  REQUIRE(quarter);
  CHECK(quarter->steps == 1);
  CHECK(quarter->before.lower == Rational(1, 2));
  CHECK(encloses(quarter->after, Rational(1, 4)));
  CHECK(
      mixing_time(two_states(Rational(1, 4)), even, Rational(1, 4) - Rational(1, 1'000'000'000'000))
          ->steps == 2);
  CHECK(mixing_time(two_states(Rational(1, 4)), even, Rational(1, 64))->steps == 5);
  const auto none = mixing_time(two_states(Rational(1, 4)), even, Rational(1, 2));
  REQUIRE(none);
  CHECK(none->steps == 0);
  CHECK(none->after.upper == Rational(1, 2));
  // log 2 / -log 0.998 = 346.2.
  const auto slow = mixing_time(two_states(Rational(1, 1000)), even, Rational(1, 4));
  REQUIRE(slow);
  CHECK(slow->steps == 347);
  CHECK(encloses(slow->before, integer_power(Rational(499, 500), 346) / 2));
  CHECK(encloses(slow->after, integer_power(Rational(499, 500), 347) / 2));
  // The worst start is the rare state, whichever place it has.
  const Matrix unequal =
      matrix_of({{Rational(9, 10), Rational(1, 10)}, {Rational(3, 10), Rational(7, 10)}});
  const auto rare = mixing_time(unequal, {Rational(3, 4), Rational(1, 4)}, Rational(1, 10));
  REQUIRE(rare);
  CHECK(rare->worst_start == 1);
  CHECK(rare->steps == 4);
}

TEST_CASE("a chain that is periodic, or that does not reach every state, never mixes") {
  CHECK_FALSE(mixing_time(two_states(1), even, Rational(1, 4)));
  CHECK_FALSE(mixing_time(two_states(0), even, Rational(1, 4)));
}

TEST_CASE("laws of mixing times") {
  law("the mixing time is the first step at which no start is further away", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const ParallelTempering kernels(space, random::ladder(2), random::restart(space.horizon()));
    const Law target = kernels.target();
    RC_PRE(target.size() > 1U && target.size() <= 64U);
    const FactoredKernel chain = kernels.transition(1, 1);
    const auto worst = worst_curve(chain, target, 6);
    const Matrix kernel = chain.matrix();
    for (std::size_t n = 0; n < worst.size(); ++n) {
      if (worst[n] == 0) break;
      const std::size_t first =
          static_cast<std::size_t>(std::find(worst.begin(), worst.end(), worst[n]) - worst.begin());
      // At the very value, which rationals decide.
      const auto found = mixing_time(kernel, target, worst[n]);
      RC_ASSERT(found.has_value());
      RC_ASSERT(found->steps == first);
      RC_ASSERT(encloses(found->after, worst[n]));
      if (first == 0) continue;
      RC_ASSERT(encloses(found->before, worst[first - 1]));
      const auto from = total_variation_curve({chain}, found->worst_start, target, first - 1);
      RC_ASSERT(encloses(found->before, from.back()));
    }
  });
  law("every cut bounds the gap and the mixing time, and the narrowest bounds the gap below", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const Ladder ladder = random::ladder(1);
    const RestartLaw restart = random::restart(space.horizon());
    const ParallelTempering kernels(space, ladder, restart);
    const Law target = kernels.target();
    RC_PRE(target.size() > 1U && target.size() <= all_cuts_limit);
    const FactoredKernel chain = kernels.local_sweep();
    const Matrix kernel = chain.matrix();
    const auto cut =
        narrowest_cut(flows_between(chain, target, each_alone(target.size()), target.size()));
    RC_ASSERT(cut.has_value());
    RC_ASSERT(cut->conductance() == least_conductance(kernel, target));
    RC_ASSERT(cut->mass <= Rational(1, 2));
    RC_ASSERT(cut->gap_at_least() == cut->conductance() * cut->conductance() / 2);
    const Bracket second = second_eigenvalue(kernel, target, 32);
    RC_ASSERT(cut->gap_at_least() <= 1 - second.lower);
    RC_ASSERT(1 - second.upper <= cut->gap_at_most());
    const Rational within(1, random::between(4, 9));
    const auto time = mixing_time(kernel, target, within);
    const auto steps = cut->steps_at_least(within);
    RC_ASSERT(time.has_value() == steps.has_value() || cut->flow > 0);
    if (time && steps) RC_ASSERT(*steps <= Rational(time->steps));
  });
  law("flows without a matrix are those of the matrix", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(2);
    const Ladder ladder = random::ladder(2);
    const RestartLaw restart = random::restart(horizon);
    const FixedHorizonSpace space(model, horizon);
    const ParallelTempering kernels(space, ladder, restart);
    const CarriedTempering carried(model, horizon, ladder, restart);
    const Law target = kernels.target();
    std::vector<std::size_t> classes(target.size());
    for (std::size_t state = 0; state < target.size(); ++state) classes[state] = state % 3;
    const auto flows = flows_between(kernels.transition(1, 1), target, classes, 3);
    const auto others = flows_between(carried.transition(1, 1), target, classes, 3);
    RC_ASSERT(flows.masses == others.masses);
    RC_ASSERT(flows.between == others.between);
  });
  law("P P* is what its definition says, and bounds the distance as Fill's theorem does", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const ParallelTempering kernels(space, random::ladder(2), random::restart(space.horizon()));
    const Law target = kernels.target();
    RC_PRE(target.size() > 1U && target.size() <= 27U);
    const FactoredKernel chain = kernels.transition(1, 1);
    const Matrix kernel = chain.matrix();
    const std::size_t n = target.size();
    Matrix backwards(n, n), product(n, n);
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y) backwards(x, y) = target[y] * kernel(y, x) / target[x];
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y)
        for (std::size_t z = 0; z < n; ++z) product(x, y) += kernel(x, z) * backwards(z, y);
    RC_ASSERT(multiplicative_reversibilisation(kernel, target) == product);
    const Bracket second = second_eigenvalue(product, target, 32);
    for (std::size_t x = 0; x < n; ++x) {
      const auto curve = total_variation_curve({chain}, x, target, 3);
      for (std::size_t steps = 0; steps < curve.size(); ++steps)
        RC_ASSERT(curve[steps] * curve[steps] <=
                  integer_power(second.upper, static_cast<unsigned>(steps)) * (1 / target[x] - 1) /
                      4);
    }
  });
}

// Half a step stays, half goes round: P P* has 1/2 on the diagonal and 1/4 beside it, and its
// second eigenvalue is 1/2 + cos(2π/3)/2 = 1/4.
TEST_CASE("the gap of a chain that goes round is that of the chain and its reverse") {
  const Rational half(1, 2);
  const Matrix round = matrix_of({{half, half, 0}, {0, half, half}, {half, 0, half}});
  const Law third(3, Rational(1, 3));
  const Matrix both = multiplicative_reversibilisation(round, third);
  CHECK(both(0, 0) == half);
  CHECK(both(0, 1) == Rational(1, 4));
  CHECK(both(0, 2) == Rational(1, 4));
  CHECK(encloses(second_eigenvalue(both, third, 40), Rational(1, 4)));
}

TEST_CASE("above the limit of all cuts one class is cut off, and one class has no cut") {
  // A star of 13 classes around class 0, in which class 4 is hard to leave.
  const std::size_t classes = all_cuts_limit + 1;
  ClassFlows flows{Law(classes, Rational(1, 13)), Matrix(classes, classes)};
  for (std::size_t a = 1; a < classes; ++a)
    flows.between(a, 0) = flows.between(0, a) = Rational(1, a == 4 ? 1300 : 130);
  const auto cut = narrowest_cut(flows);
  REQUIRE(cut);
  CHECK(cut->classes == std::vector<std::size_t>{4});
  CHECK(cut->conductance() == Rational(1, 100));
  CHECK(cut->gap_at_most() == Rational(13, 1200));
  CHECK(cut->steps_at_least(Rational(1, 4)) == (1 - Rational(1, 13) - Rational(1, 4)) * 100);
  CHECK(cut->steps_at_least(1) == Rational(0));
  CHECK_FALSE(narrowest_cut({Law{1}, matrix_of({{1}})}));
}
