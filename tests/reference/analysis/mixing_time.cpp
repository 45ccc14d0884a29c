#include "reference/analysis/mixing_time.hpp"

#include "reference/analysis/cuts.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/analysis/rounded_gap.hpp"
#include "reference/analysis/stationary_law.hpp"
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

FactoredKernel two_states(const Rational& change) {
  return FactoredKernel(matrix_of({{1 - change, change}, {change, 1 - change}}));
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

// True if the mixing time to within each distance of the first steps, which rationals decide, and
// halfway to the one before it, is the first step with it, and what is around it is right.
bool finds_every_step(const FactoredKernel& chain, const Law& target, std::size_t steps) {
  const auto worst = worst_curve(chain, target, steps);
  for (std::size_t n = 0; n < worst.size() && worst[n] != 0; ++n) {
    if (n > 0 && worst[n] == worst[n - 1]) continue;
    std::vector<Rational> asked{worst[n]};
    if (n > 0) asked.emplace_back((worst[n] + worst[n - 1]) / 2);
    for (const Rational& distance : asked) {
      const auto found = mixing_time(chain, target, distance);
      if (!found || found->steps != n || !encloses(found->after, worst[n])) return false;
      if (n == 0) continue;
      const auto from = total_variation_curve({chain}, found->worst_start, target, n - 1);
      if (!encloses(found->before, worst[n - 1]) || !encloses(found->before, from.back()))
        return false;
    }
  }
  return true;
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
  const FactoredKernel unequal(
      matrix_of({{Rational(9, 10), Rational(1, 10)}, {Rational(3, 10), Rational(7, 10)}}));
  const auto rare = mixing_time(unequal, {Rational(3, 4), Rational(1, 4)}, Rational(1, 10));
  REQUIRE(rare);
  CHECK(rare->worst_start == 1);
  CHECK(rare->steps == 4);
}

// State 0 draws itself or, seldom, the first of six states that lead to one another, or the last,
// which is hard to leave. The sixth draws nearly the target: of the starts that are furthest for
// five steps none is from the sixth on, and the last state, closer until then, is.
TEST_CASE("a start that is overtaken, and one that was within the distance before") {
  const std::size_t states = 8, last = states - 1;
  Matrix kernel(states, states);
  const auto draw = [&](std::size_t from, const Rational& share) {
    kernel(from, 0) += share * Rational(189, 200);
    kernel(from, 1) += share * Rational(1, 200);
    kernel(from, last) += share * Rational(1, 20);
  };
  draw(0, 1);
  for (std::size_t x = 1; x + 1 < last; ++x) kernel(x, x + 1) = 1;
  kernel(last - 1, 0) = Rational(3, 4);
  kernel(last - 1, last) = Rational(1, 4);
  kernel(last, last) = Rational(17, 20);
  draw(last, Rational(3, 20));
  CHECK(finds_every_step(FactoredKernel(kernel), *stationary_law(kernel), 11));
}

// The distance is (1 - 2^-16)^N / 2; after 45,426 steps its rational has 1.4 million bits.
TEST_CASE(
    "a distance that doubles cannot tell is told all the same, but for a tie of long numbers") {
  const FactoredKernel slow = two_states(Rational(1, 1 << 17));
  const auto found = mixing_time(slow, even, Rational(1, 4));
  REQUIRE(found);
  CHECK(found->steps == 45'426);
  const Rational then = integer_power(1 - Rational(1, 1 << 16), 45'426) / 2;
  const Rational little = 1 / integer_power(Rational(10), 60);
  CHECK(mixing_time(slow, even, then - little)->steps == 45'427);
  CHECK_THROWS_WITH(mixing_time(slow, even, then),
                    Catch::Contains("mixing time") && Catch::Contains("doubles"));
}

// Every start is at the distance (1 - 2^-11)^N 7/8.
TEST_CASE("a tie of all starts, of numbers that take too long together, is refused") {
  const std::size_t states = 8;
  Matrix kernel(states, states);
  for (std::size_t x = 0; x < states; ++x)
    for (std::size_t y = 0; y < states; ++y)
      kernel(x, y) = Rational(1, states << 11U) + (x == y ? 1 - Rational(1, 1 << 11) : Rational(0));
  const FactoredKernel chain(kernel);
  const Law alike(states, Rational(1, states));
  const auto after = [](unsigned steps) -> Rational {
    return integer_power(1 - Rational(1, 1 << 11), steps) * Rational(7, 8);
  };
  CHECK(mixing_time(chain, alike, after(100))->steps == 100);
  CHECK_THROWS_WITH(mixing_time(chain, alike, after(8'000)), Catch::Contains("doubles"));
}

// The distance is 2^-(N + 1).
TEST_CASE("a distance far below the errors of doubles") {
  const FactoredKernel quick = two_states(Rational(1, 4));
  for (const unsigned steps : {60U, 300U, 1'200U}) {
    const Rational then = integer_power(Rational(1, 2), steps + 1);
    CHECK(mixing_time(quick, even, then)->steps == steps);
    CHECK(mixing_time(quick, even, then * Rational(3, 4))->steps == steps + 1);
  }
  CHECK(mixing_time(two_states(Rational(1, 2)), even, 0)->steps == 1);
}

// States 1 and 2 go to 0 by nearly the same probability; the smaller one leaves more where it is.
TEST_CASE("of starts that doubles cannot rank the furthest is found, and of equal ones the first") {
  const Rational little = 1 / integer_power(Rational(10), 30);
  for (const int sign : {-1, 0, 1}) {
    CAPTURE(sign);
    const Rational more = sign * little, half(1, 2), tenth(1, 10);
    const Matrix kernel = matrix_of({{1 - 2 * tenth, tenth, tenth},
                                     {half + more, half - more, 0},
                                     {half - more, 0, half + more}});
    const FactoredKernel chain(kernel);
    const Law target = *stationary_law(kernel);
    const auto found = mixing_time(chain, target, Rational(1, 100));
    REQUIRE(found);
    REQUIRE(found->steps > 2);
    std::vector<Rational> distances;
    for (std::size_t x = 0; x < 3; ++x)
      distances.push_back(total_variation_curve({chain}, x, target, found->steps - 1).back());
    CHECK((distances[1] < distances[2]) == (sign > 0));
    CHECK((distances[1] > distances[2]) == (sign < 0));
    CHECK(found->worst_start == (sign > 0 ? 2 : 1));
    CHECK(found->before.lower <= *std::max_element(distances.begin(), distances.end()));
    CHECK(found->before.upper >= *std::max_element(distances.begin(), distances.end()));
    CHECK(found->before.upper - found->before.lower < little * little);
  }
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
    RC_ASSERT(finds_every_step(chain, target, 4));
  });
  law("so it is for any kernel, where one start is furthest at first and another later", [] {
    const auto states = static_cast<std::size_t>(random::between(2, 6));
    Matrix kernel(states, states);
    for (std::size_t x = 0; x < states; ++x) {
      const auto row = random::weights(states);
      for (std::size_t y = 0; y < states; ++y) kernel(x, y) = row[y];
    }
    const FactoredKernel chain(kernel);
    RC_PRE(is_irreducible(chain));
    RC_ASSERT(finds_every_step(chain, *stationary_law(kernel), 5));
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
    const auto time = mixing_time(chain, target, within);
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
  law("the gap of P P* bounds the distance as Fill's theorem does", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const ParallelTempering kernels(space, random::ladder(2), random::restart(space.horizon()));
    const Law target = kernels.target();
    RC_PRE(target.size() > 1U && target.size() <= 27U);
    const FactoredKernel chain = kernels.transition(1, 1);
    const Bracket second =
        rounded_second_eigenvalue(chain.rounded_matrix(), target, Reversible::with_reverse);
    for (std::size_t x = 0; x < target.size(); ++x) {
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
  const FactoredKernel round(matrix_of({{half, half, 0}, {0, half, half}, {half, 0, half}}));
  CHECK(encloses(rounded_second_eigenvalue(round.rounded_matrix(), Law(3, Rational(1, 3)),
                                           Reversible::with_reverse),
                 Rational(1, 4)));
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
