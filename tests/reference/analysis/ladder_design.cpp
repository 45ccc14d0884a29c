#include "reference/analysis/ladder_design.hpp"

#include "base/error.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

namespace {

std::vector<Rational> values(const Ladder& ladder) {
  std::vector<Rational> powers;
  for (std::size_t k = 0; k < ladder.rungs(); ++k) powers.push_back(ladder[k].value());
  return powers;
}

Power power(const std::string& text) { return parse_power(text, "test"); }

EdgeQuality surrogate(Spread spread) {
  return [spread](const Power& lower, const Power& upper) {
    return Rational(-thermodynamic_gap(spread, lower, upper));
  };
}

// Every ladder of that many rungs between the first and last candidate.
std::vector<std::vector<Power>> all_ladders(const std::vector<Power>& candidates,
                                            std::size_t rungs) {
  std::vector<std::vector<Power>> ladders;
  for (std::size_t chosen = 0; chosen < std::size_t{1} << candidates.size(); ++chosen) {
    std::vector<Power> ladder;
    for (std::size_t j = 0; j < candidates.size(); ++j)
      if ((chosen >> j) % 2 == 1) ladder.push_back(candidates[j]);
    if (ladder.size() == rungs && chosen % 2 == 1 && chosen >> (candidates.size() - 1) == 1)
      ladders.push_back(ladder);
  }
  return ladders;
}

Rational weakest_edge(const std::vector<Power>& ladder, const EdgeQuality& quality) {
  Rational weakest = quality(ladder[0], ladder[1]);
  for (std::size_t k = 1; k + 1 < ladder.size(); ++k)
    weakest = std::min(weakest, quality(ladder[k], ladder[k + 1]));
  return weakest;
}

}  // namespace

TEST_CASE(
    "a constant spread wants an arithmetic ladder, a spread inverse to the power a geometric one") {
  CHECK(values(equal_distance_ladder(Spread::constant, power("1"), power("4"), 4)) ==
        std::vector<Rational>{1, 2, 3, 4});
  CHECK(values(equal_distance_ladder(Spread::constant, power("1"), power("2"), 4)) ==
        std::vector<Rational>{1, q("4/3"), q("5/3"), 2});
  CHECK(values(equal_distance_ladder(Spread::inverse_to_power, power("1"), power("8"), 4)) ==
        std::vector<Rational>{1, 2, 4, 8});
  CHECK(values(equal_distance_ladder(Spread::inverse_to_power, power("1/2"), power("9/8"), 3)) ==
        std::vector<Rational>{q("1/2"), q("3/4"), q("9/8")});
  for (const Spread spread : {Spread::constant, Spread::inverse_to_power})
    CHECK(values(equal_distance_ladder(spread, power("1"), power("7"), 2)) ==
          std::vector<Rational>{1, 7});
}

TEST_CASE("what is no such ladder is refused") {
  CHECK_THROWS_WITH(equal_distance_ladder(Spread::inverse_to_power, power("1"), power("2"), 3),
                    Catch::Contains("from 1 to 2 with 3 rungs is irrational"));
  CHECK_THROWS_AS(equal_distance_ladder(Spread::constant, power("1"), power("2"), 1), BadInput);
  CHECK_THROWS_AS(equal_distance_ladder(Spread::constant, power("2"), power("2"), 3), BadInput);
  const EdgeQuality quality = surrogate(Spread::constant);
  CHECK_THROWS_AS(maximin_ladder({power("1"), power("2")}, 3, quality), BadInput);
  CHECK_THROWS_AS(maximin_ladder({power("1"), power("2")}, 1, quality), BadInput);
  CHECK_THROWS_AS(maximin_ladder({power("1"), power("3"), power("2")}, 2, quality), BadInput);
}

TEST_CASE("the one max-min ladder of either spread is the equally distant one") {
  std::vector<Power> candidates;
  for (int halves = 2; halves <= 16; ++halves) candidates.emplace_back(Rational(halves) / 2);
  const auto geometric = maximin_ladder(candidates, 4, surrogate(Spread::inverse_to_power));
  CHECK(values(geometric.ladder) == std::vector<Rational>{1, 2, 4, 8});
  CHECK(geometric.solutions == 1);
  CHECK(geometric.weakest == -2);
  const auto arithmetic = maximin_ladder(candidates, 8, surrogate(Spread::constant));
  CHECK(values(arithmetic.ladder) == std::vector<Rational>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(arithmetic.solutions == 1);
  // If the candidates lack the equally distant powers, several may be as good.
  CHECK(maximin_ladder({power("1"), power("3/2"), power("5/2"), power("3")}, 3,
                       surrogate(Spread::constant))
            .solutions == 2);
}

TEST_CASE("the exact acceptances of a model have a best ladder too") {
  const FixedHorizonSpace space(four_state(), 2);
  const EdgeQuality exact = [&](const Power& lower, const Power& upper) {
    return expected_swap_acceptance(power_target(space, lower), power_target(space, upper));
  };
  std::vector<Power> candidates;
  for (unsigned alpha = 1; alpha <= 6; ++alpha) candidates.emplace_back(Rational(alpha));
  const MaximinLadder best = maximin_ladder(candidates, 3, exact);
  CHECK(diagnose_ladder(space, best.ladder)
            .acceptances[diagnose_ladder(space, best.ladder).weakest] == best.weakest);
  for (const auto& ladder : all_ladders(candidates, 3))
    CHECK(weakest_edge(ladder, exact) <= best.weakest);
  CHECK(values(best.ladder) == std::vector<Rational>{1, 3, 6});
  CHECK(best.weakest == q("7/10"));
}

TEST_CASE("the best average is not the best weakest edge") {
  // Edges of quality: 1-2: 1, 2-4: 5, 1-3: 2, 3-4: 2.
  const EdgeQuality quality = [](const Power& lower, const Power& upper) {
    if (lower.value() == 1) return upper.value() == 2 ? Rational(1) : Rational(2);
    return lower.value() == 2 ? Rational(5) : Rational(2);
  };
  const auto best = maximin_ladder({power("1"), power("2"), power("3"), power("4")}, 3, quality);
  CHECK(values(best.ladder) == std::vector<Rational>{1, 3, 4});
  CHECK(best.weakest == 2);
}

TEST_CASE("laws of ladder design") {
  law("equal distances are equal, and every other ladder has a wider gap", [] {
    const bool constant = *rc::gen::arbitrary<bool>();
    const Spread spread = constant ? Spread::constant : Spread::inverse_to_power;
    const std::size_t rungs = random::between<std::size_t>(2, 4);
    const Rational lowest(random::between(1, 3));
    const Rational step(random::between(2, 4));
    const Rational highest =
        constant ? Rational(lowest + step * Rational(rungs - 1))
                 : Rational(lowest * integer_power(step, static_cast<unsigned>(rungs - 1)));
    const Ladder ladder = equal_distance_ladder(spread, Power(lowest), Power(highest), rungs);
    std::vector<Power> candidates;
    for (std::size_t k = 0; k < rungs; ++k) {
      if (k > 0) {
        RC_ASSERT(thermodynamic_gap(spread, ladder[k - 1], ladder[k]) == step);
        candidates.emplace_back((ladder[k - 1].value() + ladder[k].value()) / 2);
      }
      candidates.push_back(ladder[k]);
    }
    const auto best = maximin_ladder(candidates, rungs, surrogate(spread));
    RC_ASSERT(values(best.ladder) == values(ladder));
    RC_ASSERT(best.solutions == 1U);
    RC_ASSERT(best.weakest == -step);
  });
  law("the max-min ladder is the best of all ladders", [] {
    const std::size_t count = random::between<std::size_t>(2, 6);
    std::vector<Power> candidates;
    for (std::size_t j = 1; j <= count; ++j) candidates.emplace_back(Rational(j));
    std::vector<int> drawn;
    for (std::size_t e = 0; e < count * count; ++e) drawn.push_back(random::between(0, 3));
    const EdgeQuality quality = [&](const Power& lower, const Power& upper) {
      const auto i = numerator(lower.value()).convert_to<std::size_t>() - 1;
      const auto j = numerator(upper.value()).convert_to<std::size_t>() - 1;
      return Rational(drawn[i * count + j]);
    };
    const std::size_t rungs = random::between<std::size_t>(2, count);
    const auto best = maximin_ladder(candidates, rungs, quality);
    std::size_t solutions = 0;
    for (const auto& ladder : all_ladders(candidates, rungs)) {
      RC_ASSERT(weakest_edge(ladder, quality) <= best.weakest);
      if (weakest_edge(ladder, quality) == best.weakest) ++solutions;
    }
    RC_ASSERT(best.solutions == solutions);
    std::vector<Power> found;
    for (std::size_t k = 0; k < rungs; ++k) found.push_back(best.ladder[k]);
    RC_ASSERT(weakest_edge(found, quality) == best.weakest);
  });
}
