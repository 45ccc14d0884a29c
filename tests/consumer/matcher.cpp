// A user's test by Catch2: the kernel samples p0^2, and without its acceptance it does not.
#include <cstdlib>
#include <tempera/catch2.hpp>

#include "independent.hpp"

TEST_CASE("a kernel of a user's own") {
  using namespace tempera;
  const check::Case judged{exact::FiniteModel::open(std::getenv("MODEL")), 2, {2}};
  CHECK_THAT(independent(true), check::samples(judged));
  CHECK_THAT(independent(false), !check::samples(judged));
  // The models that the command judges by are in the library.
  CHECK(check::fault(independent(true), check::default_models()).empty());
  CHECK_FALSE(check::fault(independent(false), check::default_models()).empty());
  const check::Verdict verdict = check::judge(independent(true), judged);
  REQUIRE(verdict.states == judged.model.records(2));
  // Πp P = Π, computed anew from what the verdict hands over.
  const auto target = judged.model.power_law(2, 2);
  for (std::size_t y = 0; y < target.size(); ++y) {
    exact::Fraction mass = 0;
    for (std::size_t x = 0; x < target.size(); ++x) mass = mass + target[x] * verdict.matrix[x][y];
    CHECK(mass == target[y]);
  }
  const std::string fault = check::fault(independent(false), judged);
  CHECK(fault.find("on horizon") != std::string::npos);
}

TEST_CASE("a whole program of a user's own") {
  using namespace tempera;
  const check::Case judged{exact::FiniteModel::open(std::getenv("MODEL")), 2, {2}};
  const auto terminal = judged.model.terminal();
  // One answer from p0, taken with its probability; else another: p(x)² + (1 - Σ p²) p(x).
  const check::Program two_tries = [&](const check::Case& on, check::Lottery& lottery) {
    check::Record answer;
    for (int tries = 0; tries < 2; ++tries) {
      exact::Fraction probability = 1;
      answer.clear();
      while (answer.size() < on.horizon &&
             (answer.empty() || !on.model.terminal()[answer.back()])) {
        const auto row = on.model.next(answer);
        answer.push_back(lottery.draw(row));
        probability = probability * row[answer.back()];
      }
      if (lottery.happens(probability)) break;
    }
    return answer;
  };
  check::Law base;
  const auto first = judged.model.next({});
  for (std::size_t a = 0; a < first.size(); ++a) {
    if (first[a] == 0) continue;
    if (terminal[a]) {
      base[{a}] = first[a];
      continue;
    }
    const auto second = judged.model.next({a});
    for (std::size_t b = 0; b < second.size(); ++b)
      if (second[b] > 0) base[{a, b}] = first[a] * second[b];
  }
  exact::Fraction squares = 0;
  for (const auto& [record, p] : base) squares = squares + p * p;
  check::Law expected, target;
  for (const auto& [record, p] : base) {
    expected[record] = p * p + (exact::Fraction(1) - squares) * p;
    target[record] = p * p / squares;
  }
  CHECK(check::answer_law(two_tries, judged) == expected);
  CHECK(check::answer_law(judged) == target);
  exact::Fraction twice = 0;
  for (const auto& [record, p] : expected) {
    const exact::Fraction apart = p - target[record];
    twice = twice + (apart < 0 ? exact::Fraction(0) - apart : apart);
  }
  CHECK(check::total_variation(expected, target) == twice / 2);
  CHECK(check::total_variation({{{0}, 1}}, {{{1}, 1}}) == 1);
  CHECK(check::fault(two_tries, judged).find("by the target") != std::string::npos);
  CHECK(check::fault(two_tries, judged, twice).empty());

  // Tokens of p0^2, each for itself: the sampler of that name, and no other.
  const check::Program low = [](const check::Case& on, check::Lottery& lottery) {
    check::Record answer;
    while (answer.size() < on.horizon && (answer.empty() || !on.model.terminal()[answer.back()])) {
      auto weights = on.model.next(answer);
      for (auto& weight : weights) weight = weight * weight;
      answer.push_back(lottery.draw(weights));
    }
    return answer;
  };
  const check::Algorithm itself{.name = "low-temperature"};
  CHECK(check::answer_law(low, judged) == check::answer_law(itself, judged));
  CHECK(check::fault(low, itself, judged).empty());
  CHECK(!check::fault(two_tries, itself, judged).empty());
  const check::Algorithm moved{.name = "power-sampling", .block = 1, .rounds = 2};
  CHECK(!check::fault(low, moved, judged).empty());
  // Rounds play a part, and the powers of the algorithm are its own.
  const check::Algorithm once{.name = "power-sampling", .block = 1, .rounds = 1};
  CHECK(check::answer_law(once, judged) != check::answer_law(moved, judged));
  const check::Algorithm cubed{.name = "low-temperature", .powers = {3}};
  CHECK(check::answer_law(cubed, judged) != check::answer_law(itself, judged));
  CHECK_THROWS_AS(check::answer_law(check::Algorithm{.name = "power-samplng"}, judged), BadInput);
  check::Case ladder = judged;
  ladder.powers = {1, 2};
  CHECK_THROWS_AS(check::answer_law(low, ladder), BadInput);
}
