// Kernels and programs of a user's own in C++: what is no function of its draws, ends never or
// draws from no law is the user's fault, named as one, and never judged.
#include "tempera/check.hpp"

#include <map>
#include <random>

#include "lab/judge/default_cases.hpp"
#include "tests/catch.hpp"
#include "tests/consumer/independent.hpp"

namespace tempera::check_test {

using namespace tempera;
using namespace tempera::check;
using exact::Fraction;

namespace {

exact::FiniteModel shipped(const std::string& name) {
  return exact::FiniteModel::open(TEMPERA_SOURCE_DIR "/toy_models/" + name + ".json");
}

Case case_of(const std::string& name, std::size_t horizon = 2, const Fraction& power = 2) {
  return {shipped(name), horizon, {power}};
}

const std::vector<std::string> small{"four_state", "several_terminals", "unequal_lengths",
                                     "zero_probabilities"};

/// Independent proposals from p0; `accepts` is asked with min(1, p0(y) / p0(x))^(power - 1).
Kernel deciding(std::function<bool(const Fraction&, Lottery&)> accepts) {
  return [accepts](const Case& judged, const State& state, Lottery& lottery) -> State {
    const auto terminal = judged.model.terminal();
    const auto likelihood = [&](const Record& record) {
      Fraction product = 1;
      Record prefix;
      for (const std::size_t token : record) {
        product = product * judged.model.next(prefix)[token];
        prefix.push_back(token);
      }
      return product;
    };
    Record y;
    while (y.size() < judged.horizon && (y.empty() || !terminal[y.back()]))
      y.push_back(lottery.draw(judged.model.next(y)));
    const Fraction ratio = likelihood(y) / likelihood(state[0]);
    Fraction powered = 1;
    for (Fraction k = 1; k < judged.powers[0]; k = k + 1) powered = powered * ratio;
    return accepts(powered < 1 ? powered : Fraction(1), lottery) ? State{y} : state;
  };
}

Kernel right() {
  return deciding([](const Fraction& ratio, Lottery& lottery) { return lottery.happens(ratio); });
}

}  // namespace

TEST_CASE("a kernel that decides by chance of its own is refused on every model and seed") {
  for (const std::string& name : small)
    for (const std::size_t horizon : {1U, 2U})
      for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
        // If all records are equally likely, nothing is left to chance.
        const auto base = shipped(name).base_law(horizon);
        if (std::ranges::count(base, base[0]) == std::ssize(base)) continue;
        CAPTURE(name, horizon, seed);
        auto chance = std::make_shared<std::mt19937>(seed);
        const Kernel kernel = deciding([chance](const Fraction& ratio, Lottery&) {
          return std::uniform_real_distribution<>()(*chance) < ratio.value();
        });
        CHECK_THROWS_WITH(judge(kernel, case_of(name, horizon)),
                          Catch::StartsWith("Kernel: the step from (") &&
                              Catch::Contains("is not a function of its draws"));
        CHECK_THROWS_AS(fault(kernel, case_of(name, horizon)), BadInput);
      }
}

TEST_CASE("chance of its own is found in proposals, in weights and in how often it draws") {
  const auto chance = std::make_shared<std::mt19937>(1);
  const auto coin = [chance] { return (*chance)() % 2 == 0; };
  const Case judged = case_of("four_state");
  const std::map<std::string, Kernel> kernels{
      {"another end",
       [&](const Case&, const State& state, Lottery&) -> State {
         return coin() ? state : State{{1}};
       }},
      {"other weights",
       [&](const Case&, const State& state, Lottery& lottery) -> State {
         return lottery.draw({1, coin() ? 1 : 2}) == 0 ? state : State{{1}};
       }},
      {"a draw more",
       [&](const Case&, const State& state, Lottery& lottery) -> State {
         if (coin()) lottery.draw({1, 1});
         return state;
       }},
      {"a draw of one outcome more",
       [&](const Case&, const State& state, Lottery& lottery) -> State {
         lottery.draw({1});
         if (coin()) lottery.draw({1});
         return state;
       }}};
  for (const auto& [what, kernel] : kernels) {
    CAPTURE(what);
    CHECK_THROWS_AS(judge(kernel, judged), BadInput);
  }
}

TEST_CASE("a kernel that remembers is refused") {
  const Case judged = case_of("unequal_lengths");
  // Each keeps something from one call to the next.
  const auto calls = std::make_shared<std::size_t>(0);
  for (const std::size_t period : {2U, 3U, 5U}) {
    CAPTURE(period);
    const Kernel kernel = deciding([=](const Fraction& ratio, Lottery& lottery) {
      return ++*calls % period == 0 || lottery.happens(ratio);
    });
    CHECK_THROWS_AS(judge(kernel, judged), BadInput);
  }
  // A cache of the record before, whose key lacks the record: the next one is given its likelihood.
  const auto last = std::make_shared<Record>();
  const Kernel stale = [last](const Case& on, const State& state, Lottery& lottery) -> State {
    const auto row = on.model.next({});
    const Record y{lottery.draw(row)};
    if (!on.model.terminal()[y[0]]) return state;
    const Fraction before = last->empty() ? Fraction(1) : row[last->front()];
    *last = y;
    return row[y[0]] < before && !lottery.happens(row[y[0]] / before) ? state : State{y};
  };
  CHECK_THROWS_AS(judge(stale, judged), BadInput);
  const auto first = std::make_shared<bool>(true);
  const Kernel warms_up = [=](const Case&, const State& state, Lottery& lottery) -> State {
    const bool was_first = std::exchange(*first, false);
    return was_first && lottery.happens(Fraction(1, 2)) ? State{{0}} : state;
  };
  CHECK_THROWS_AS(judge(warms_up, judged), BadInput);
}

TEST_CASE("a kernel that draws without end is named, with its last draws") {
  const Kernel endless = [](const Case&, const State& state, Lottery& lottery) -> State {
    while (!lottery.happens(Fraction(1, 3))) {
    }
    return state;
  };
  CHECK_THROWS_WITH(
      judge(endless, case_of("four_state")),
      Catch::Contains("draws without end: 1000 draws on one path after the draws …, 1, "
                      "1") &&
          Catch::StartsWith("the step from ("));
  const Program never = [](const Case&, Lottery& lottery) -> Record {
    for (;;) lottery.draw({1, 1});
  };
  CHECK_THROWS_WITH(answer_law(never, case_of("four_state")),
                    Catch::StartsWith("the program: draws without end"));
  const Kernel long_one = [](const Case&, const State& state, Lottery& lottery) -> State {
    for (int i = 0; i < 1000; ++i) lottery.draw({1});
    return state;
  };
  CHECK_FALSE(judge(long_one, case_of("four_state")).irreducible);
}

TEST_CASE("rejection samplers of unbounded length are judged, within what may be lost") {
  // A record by its probability to the exponent, or none of them, and then once more.
  const auto sampler = [](int exponent, bool forgives = false) {
    return [=](const Case& judged, Lottery& lottery) -> Record {
      const Law p0 = answer_law({judged.model, judged.horizon, {1}});
      std::vector<Record> records;
      std::vector<Fraction> weights;
      Fraction none = 1;
      for (const auto& [record, probability] : p0) {
        Fraction weight = 1;
        for (int i = 0; i < exponent; ++i) weight = weight * probability;
        records.push_back(record);
        weights.push_back(weight);
        none = none - weight;
      }
      weights.push_back(none);
      for (;;) try {
          const std::size_t winner = lottery.draw(weights);
          if (winner < records.size()) return records[winner];
        } catch (...) {
          if (!forgives) throw;
          return records.front();  // as if the path that is lost had ended so
        }
    };
  };
  const auto kernel = [](const Program& program) {
    return [=](const Case& judged, const State&, Lottery& lottery) -> State {
      return {program(judged, lottery)};
    };
  };
  const Fraction within(1, 1'000'000);
  const Case judged = case_of("four_state");
  CHECK(fault(sampler(2), judged, within).empty());
  CHECK(fault(sampler(2, true), judged, within).empty());
  CHECK(fault(sampler(3), judged, within) != "");
  CHECK(fault(kernel(sampler(2)), judged, within).empty());
  CHECK(fault(kernel(sampler(3)), judged, within) != "");
  // A row lacks the mass that is lost, and no other.
  for (const auto& row : judge(kernel(sampler(2)), judged, within).matrix) {
    Fraction sum = 0;
    for (const Fraction& probability : row) sum = sum + probability;
    CHECK(sum < 1);
    CHECK(Fraction(1) - sum < within);
  }
  CHECK_THROWS_WITH(judge(kernel(sampler(2)), judged),
                    Catch::Contains("draws without end") && Catch::Contains("within"));
  const Kernel never = [](const Case&, const State& state, Lottery& lottery) -> State {
    if (lottery.happens(Fraction(2, 3))) return state;
    for (;;) lottery.draw({1});
  };
  CHECK_THROWS_WITH(judge(never, judged, within),
                    Catch::Contains("draws without end on paths of probability 1/3"));
  const Kernel branching = [](const Case&, const State& state, Lottery& lottery) -> State {
    while (lottery.draw({1, 1, 1}) != 0) {
    }
    return state;
  };
  CHECK_THROWS_WITH(judge(branching, judged, within),
                    Catch::Contains("draws without end on more than 2000 paths"));
}

TEST_CASE("a sampler whose tries fail in many ways is judged exactly where they are merged") {
  // Records of p0, token by token, each kept with p0 to the exponent: every record is a way to
  // fail.
  const auto sampler = [](int exponent, bool forgives = false) -> Program {
    return [=](const Case& judged, Lottery& lottery) -> Record {
      const Law p0 = answer_law({judged.model, judged.horizon, {1}});
      std::vector<Record> records;
      std::vector<Fraction> weights;
      for (const auto& [record, probability] : p0) {
        records.push_back(record);
        weights.push_back(probability);
      }
      for (;;) {
        try {
          lottery.merge("try");
        } catch (...) {
          if (!forgives) throw;
        }
        const std::size_t winner = lottery.draw(weights);
        Fraction kept = 1;
        for (int i = 0; i < exponent; ++i) kept = kept * weights[winner];
        if (lottery.happens(kept)) return records[winner];
      }
    };
  };
  const auto kernel = [](const Program& program) -> Kernel {
    return [=](const Case& judged, const State&, Lottery& lottery) -> State {
      return {program(judged, lottery)};
    };
  };
  for (const std::string& name : small) {
    CAPTURE(name);
    for (const int power : {2, 3}) {
      const Case judged = case_of(name, 2, power);
      CHECK(fault(sampler(power - 1), judged).empty());
      CHECK(fault(sampler(power - 1, true), judged).empty());
      CHECK(fault(sampler(power), judged) != "");
      CHECK(fault(kernel(sampler(power - 1)), judged).empty());
      CHECK(fault(kernel(sampler(power)), judged) != "");
      CHECK(answer_law(sampler(power - 1), judged) == answer_law(judged));
    }
  }
}

TEST_CASE("the law behind a merge is that of every path, whichever leads there") {
  // A walk on three places that ends at each with its own probability, then a fair last draw.
  const auto walk = [](bool merges) -> Program {
    return [=](const Case& judged, Lottery& lottery) -> Record {
      std::size_t steps = 0;
      for (std::size_t place = lottery.draw({1, 2, 3}); !lottery.happens(Fraction(1, place + 2));
           place = (place + lottery.draw({2, 1})) % 3, ++steps) {
        if (merges)
          lottery.merge("at " + std::to_string(place) + " after " + std::to_string(steps));
        if (steps == 4) break;
      }
      if (merges) lottery.merge("end");
      const Law p0 = answer_law({judged.model, judged.horizon, {1}});
      std::vector<Fraction> weights;
      for (const auto& [record, probability] : p0) weights.push_back(probability);
      return std::next(p0.begin(), static_cast<std::ptrdiff_t>(lottery.draw(weights)))->first;
    };
  };
  const Case judged = case_of("four_state");
  CHECK(answer_law(walk(true), judged) == answer_law(walk(false), judged));
  // Tries that never end are lost, and chance of its own is found after a merge, too.
  const Program round = [](const Case&, Lottery& lottery) -> Record {
    for (;;) {
      lottery.merge("round");
      lottery.draw({1, 1});
    }
  };
  CHECK_THROWS_WITH(answer_law(round, judged), Catch::Contains("draws without end"));
  const auto count = std::make_shared<int>(0);
  const Program remembers = [count](const Case& one, Lottery& lottery) -> Record {
    lottery.merge("first");
    const Law p0 = answer_law({one.model, one.horizon, {1}});
    lottery.draw({1, 1});
    return ++*count % 3 == 0 ? p0.begin()->first : std::prev(p0.end())->first;
  };
  CHECK_THROWS_WITH(answer_law(remembers, judged), Catch::Contains("function of its draws"));
  const Program forgets = [count](const Case& one, Lottery& lottery) -> Record {
    if (++*count % 2 == 0) lottery.merge("seldom");
    lottery.draw({1, 1});
    return answer_law({one.model, one.horizon, {1}}).begin()->first;
  };
  CHECK_THROWS_WITH(answer_law(forgets, judged), Catch::Contains("function of its draws"));
}

TEST_CASE("a kernel is judged at every power up to 64") {
  for (const std::string& name : small)
    for (const int power : {16, 63, 64}) {
      CAPTURE(name, power);
      const Case judged = case_of(name, 2, power);
      CHECK(fault(right(), judged).empty());
      const Kernel lower = deciding([&](const Fraction& ratio, Lottery& lottery) {
        return lottery.happens(ratio < 1 ? (ratio + Fraction(1)) / Fraction(2) : ratio);
      });
      CHECK_FALSE(judge(lower, judged).sound());
    }
}

TEST_CASE("what a user gives wrong is not a bug of ours") {
  const Case judged = case_of("four_state");
  const auto drawing = [](std::vector<Fraction> weights) -> Kernel {
    return [weights](const Case&, const State& state, Lottery& lottery) {
      lottery.draw(weights);
      return state;
    };
  };
  CHECK_THROWS_WITH(judge(drawing({0, 0}), judged), Catch::Contains("no weight is above 0"));
  CHECK_THROWS_WITH(judge(drawing({}), judged), Catch::Contains("no weight is above 0"));
  CHECK_THROWS_WITH(judge(drawing({2, -1}), judged), Catch::Contains("a weight below 0"));
  const Kernel above_one = [](const Case&, const State& state, Lottery& lottery) {
    lottery.happens(Fraction(3, 2));
    return state;
  };
  CHECK_THROWS_AS(judge(above_one, judged), BadInput);
  const Kernel token_of_64_bits = [](const Case&, const State&, Lottery&) {
    return State{{std::size_t{1} << 32U}};
  };
  CHECK_THROWS_WITH(judge(token_of_64_bits, judged), Catch::Contains("the token 4294967296"));
  const Kernel without_record = [](const Case&, const State& state, Lottery& lottery) {
    return lottery.happens(Fraction(1, 2)) ? state : State{};
  };
  CHECK_THROWS_WITH(judge(without_record, judged), Catch::Contains("has no record"));
  const Kernel record_too_many = [](const Case&, const State& state, Lottery& lottery) {
    return lottery.happens(Fraction(1, 2)) ? state : State{state[0], state[0]};
  };
  CHECK_FALSE(judge(record_too_many, judged).stochastic);
  CHECK_THROWS_AS(shrink(right(), judged), BadInput);
  CHECK_THROWS_AS(judge(right(), {judged.model, 2, {}}), BadInput);
  CHECK_THROWS_AS(judge(right(), {judged.model, 0, {2}}), BadInput);
  CHECK_THROWS_AS(judge(right(), judged, Fraction(-1)), BadInput);
  // What the kernel itself throws comes through as it is.
  const Kernel throwing = [](const Case&, const State&, Lottery&) -> State {
    throw std::domain_error("mine");
  };
  CHECK_THROWS_AS(judge(throwing, judged), std::domain_error);
}

TEST_CASE("a program that is not a function of its draws is refused") {
  const auto chance = std::make_shared<std::mt19937>(1);
  const Program program = [chance](const Case&, Lottery&) -> Record {
    return (*chance)() % 2 == 0 ? Record{0} : Record{1};
  };
  const Case judged = case_of("four_state", 1);
  CHECK_THROWS_WITH(answer_law(program, judged),
                    Catch::StartsWith("Program: the program is not a function of its draws"));
  CHECK_THROWS_AS(fault(program, judged), BadInput);
}

TEST_CASE("a verdict's matrix is that of the kernel, and its fault the smallest") {
  const Case judged = case_of("unequal_lengths");
  const Verdict verdict = judge(right(), judged);
  CHECK(verdict.sound());
  CHECK(verdict.states == judged.model.records(2));
  const auto target = judged.model.power_law(2, 2);
  for (std::size_t y = 0; y < target.size(); ++y) {
    Fraction mass = 0;
    for (std::size_t x = 0; x < target.size(); ++x) mass = mass + target[x] * verdict.matrix[x][y];
    CHECK(mass == target[y]);
  }
  const Kernel wrong = deciding([](const Fraction&, Lottery&) { return true; });
  CHECK_THAT(fault(wrong, judged), Catch::Contains("on horizon 1"));
  const Failure failure = shrink(wrong, judged);
  CHECK_FALSE(judge(wrong, failure.judged).sound());
}

TEST_CASE("the distance of two laws is half of all differences") {
  const auto of_12 = [](int twelfths) { return Fraction(twelfths) / Fraction(12); };
  const Law one{{{0}, of_12(6)}, {{1}, of_12(4)}, {{2, 0}, of_12(2)}};
  const Law other{{{0}, of_12(3)}, {{1}, of_12(4)}, {{3}, of_12(5)}};
  CHECK(total_variation(one, other) == of_12((3 + 0 + 2 + 5) / 2));
  CHECK(total_variation(other, one) == total_variation(one, other));
  CHECK(total_variation(one, one) == Fraction(0));
  CHECK(total_variation(one, {{{5}, Fraction(1)}}) == Fraction(1));
}

TEST_CASE("the default models are those of the command, and need no tree") {
  for (const std::size_t rungs : {1U, 2U, 3U}) {
    CAPTURE(rungs);
    const std::vector<Fraction> powers{1, 2, 3};
    const std::vector<Fraction> asked(powers.begin(), powers.begin() + static_cast<int>(rungs));
    const auto cases = default_models(asked);
    const auto shipped_cases = lab::default_cases(TEMPERA_SOURCE_DIR, rungs);
    REQUIRE(cases.size() == shipped_cases.size());
    REQUIRE(!cases.empty());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      CHECK(cases[i].model.json() == exact::FiniteModel::open(shipped_cases[i].file).json());
      CHECK(cases[i].horizon == shipped_cases[i].horizon);
      CHECK(cases[i].powers == asked);
    }
  }
  CHECK_THROWS_AS(default_models({}), BadInput);
  CHECK(fault(right(), default_models()).empty());
  const Kernel wrong = deciding([](const Fraction&, Lottery&) { return true; });
  CHECK(!fault(wrong, default_models()).empty());
  const Program first = [](const Case& on, Lottery&) -> Record {
    Record answer;
    while (answer.size() < on.horizon && (answer.empty() || !on.model.terminal()[answer.back()])) {
      const auto row = on.model.next(answer);
      answer.push_back(static_cast<std::size_t>(
          std::ranges::find_if(row, [](const Fraction& p) { return p > 0; }) - row.begin()));
    }
    return answer;
  };
  CHECK(!fault(first, default_models()).empty());
}

}  // namespace tempera::check_test
