#include "reference/kernels/progressive.hpp"

#include <map>
#include <numeric>

#include "base/error.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

namespace tempera::progressive_test {

using namespace tempera;
using namespace tempera::reference;

namespace {

using Tokens = std::vector<Token>;
using Replicas = std::vector<Tokens>;
using Masses = std::map<Replicas, Rational>;

/// Algorithm 1 and the truncating sampler done decision by decision on token sequences, from the
/// paper's words and p0 alone: no space, no matrix, no code of the kernels.
class ByHand {
 public:
  ByHand(const FiniteModel& model, std::vector<unsigned> powers)
      : model_(model), powers_(std::move(powers)) {}

  bool terminated(const Tokens& x) const { return !x.empty() && model_.is_terminal(x.back()); }
  Rational p0(const Tokens& x, std::size_t t) const {  // of its token t, from 0
    return model_.token_row(std::span(x).first(t))[x[t]];
  }
  Rational g(const Tokens& x, std::size_t t, std::size_t k) const {
    Rational z = 0;
    for (const Rational& p : model_.token_row(std::span(x).first(t)))
      z += integer_power(p, powers_[k]);
    return integer_power(p0(x, t), powers_[k]) / z;
  }

  /// All ways to continue `begin` by g to `end` tokens, with their probabilities.
  std::vector<std::pair<Tokens, Rational>> continued(const Tokens& begin, std::size_t end,
                                                     std::size_t k) const {
    std::vector<std::pair<Tokens, Rational>> open{{begin, 1}}, done;
    while (!open.empty()) {
      const auto [x, mass] = open.back();
      open.pop_back();
      if (terminated(x) || x.size() >= end) {
        done.emplace_back(x, mass);
        continue;
      }
      for (Token v = 0; v < model_.vocabulary_size(); ++v) {
        Tokens longer = x;
        longer.push_back(v);
        if (p0(longer, x.size()) != 0) open.emplace_back(longer, mass * g(longer, x.size(), k));
      }
    }
    return done;
  }

  Masses extend(const Masses& from, std::size_t k, std::size_t horizon) const {
    Masses to;
    for (const auto& [replicas, mass] : from)
      for (const auto& [x, probability] : continued(replicas[k], horizon, k))
        to[with(replicas, k, x)] += mass * probability;
    return to;
  }

  /// One local move; `truncating`: budget, restart and scores capped as the released program does.
  Masses move(const Masses& from, std::size_t k, std::size_t horizon, bool truncating) const {
    Masses to;
    for (const auto& [replicas, mass] : from) {
      const Tokens& x = replicas[k];
      const std::size_t budget = truncating ? x.size() : horizon;
      for (std::size_t r = 0; r < budget; ++r) {
        const Rational chosen = mass / Rational(budget);
        if (r >= x.size()) {
          to[replicas] += chosen;
          continue;
        }
        const Tokens kept(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(r));
        for (const auto& [y, proposed] : continued(kept, budget, k)) {
          const Rational ratio =
              weight(y, r, y.size(), k) / weight(x, r, truncating ? y.size() : x.size(), k);
          const Rational accepted = std::min(Rational(1), ratio);
          to[with(replicas, k, y)] += chosen * proposed * accepted;
          to[replicas] += chosen * proposed * (1 - accepted);
        }
      }
    }
    return to;
  }

  Masses swap(const Masses& from, std::size_t k) const {
    Masses to;
    for (const auto& [replicas, mass] : from) {
      const Rational ratio = integer_power(likelihood(replicas[k]) / likelihood(replicas[k + 1]),
                                           powers_[k + 1] - powers_[k]);
      const Rational accepted = std::min(Rational(1), ratio);
      Replicas exchanged = replicas;
      std::swap(exchanged[k], exchanged[k + 1]);
      to[exchanged] += mass * accepted;
      to[replicas] += mass * (1 - accepted);
    }
    return to;
  }

  Masses tempered(const std::vector<StageSchedule>& stages, Schedule schedule) const {
    Masses masses{{Replicas(powers_.size()), 1}};
    std::size_t sweeps = 0;
    for (std::size_t m = 0; m < stages.size(); ++m) {
      for (std::size_t k = 0; k < powers_.size(); ++k) masses = extend(masses, k, m + 1);
      for (std::size_t n = 0; n < stages[m].rounds; ++n) {
        for (std::size_t k = 0; k < powers_.size(); ++k)
          for (std::size_t a = 0; a < stages[m].local_moves; ++a)
            masses = move(masses, k, m + 1, false);
        for (std::size_t b = 0; b < stages[m].sweeps; ++b, ++sweeps)
          for (std::size_t k = 0; k + 1 < powers_.size(); ++k)
            if (schedule == Schedule::adj || k % 2 == sweeps % 2) masses = swap(masses, k);
      }
    }
    return masses;
  }

  Masses truncated(const std::vector<StageSchedule>& stages) const {
    Masses going{{Replicas(1), 1}}, ended;
    for (std::size_t m = 0; m < stages.size(); ++m) {
      going = extend(going, 0, m + 1);
      for (std::size_t n = 0; n < stages[m].rounds * stages[m].local_moves; ++n)
        going = move(going, 0, m + 1, true);
      Masses open;
      for (const auto& [replicas, mass] : going)
        (terminated(replicas[0]) ? ended : open)[replicas] += mass;
      going = open;
    }
    for (const auto& [replicas, mass] : going) ended[replicas] += mass;
    return ended;
  }

 private:
  static Replicas with(Replicas replicas, std::size_t k, const Tokens& x) {
    replicas[k] = x;
    return replicas;
  }
  Rational likelihood(const Tokens& x) const {
    Rational product = 1;
    for (std::size_t t = 0; t < x.size(); ++t) product *= p0(x, t);
    return product;
  }
  /// Π p0^α / g over the tokens r..end−1.
  Rational weight(const Tokens& x, std::size_t r, std::size_t end, std::size_t k) const {
    Rational product = 1;
    for (std::size_t t = r; t < end; ++t)
      product *= integer_power(p0(x, t), powers_[k]) / g(x, t, k);
    return product;
  }

  const FiniteModel& model_;
  std::vector<unsigned> powers_;
};

/// Holds a law on the joint states of a space against masses on token sequences.
void check_same(const RecordSpace& space, std::size_t rungs, const Law& law, const Masses& masses) {
  const Shape shape(rungs, space.size());
  Rational found = 0;
  for (std::size_t s = 0; s < law.size(); ++s) {
    Replicas replicas;
    for (const std::size_t x : coordinates(shape, s)) replicas.push_back(space[x].tokens);
    const auto mass = masses.find(replicas);
    const Rational expected = mass == masses.end() ? Rational(0) : mass->second;
    CHECK(law[s] == expected);
    found += expected;
  }
  CHECK(found == 1);
}

/// Three tokens, one terminal; rows of unequal probabilities after each first token, one forbidden.
FiniteModel uneven() {
  return parse_finite_model(
      R"({"name": "uneven", "vocabulary": ["a", "b", "e"], "terminal": ["e"],
          "next": {"": {"a": "1/2", "b": "1/6", "e": "1/3"},
                   "a": {"a": "1/5", "b": "3/10", "e": "1/2"},
                   "b": {"a": "3/4", "e": "1/4"}},
          "default": {"a": "2/5", "b": "2/5", "e": "1/5"}})",
      "uneven");
}

/// Two tokens, so that four rungs have few joint states: a a (censored), a e, e.
FiniteModel biased() {
  return parse_finite_model(
      R"({"name": "biased", "vocabulary": ["a", "e"], "terminal": ["e"],
          "next": {"a": {"a": "1/4", "e": "3/4"}}, "default": {"a": "2/3", "e": "1/3"}})",
      "biased");
}

}  // namespace

// Counts that all differ, so that none can stand for another; odd numbers of sweeps in a round and
// in a stage, so that the parity of a layer is carried from one into the next.
TEST_CASE("Algorithm 1 by hand, three rungs, two stages with counts of their own") {
  const std::vector<StageSchedule> stages{{1, 2, 3}, {2, 1, 1}};
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    const FiniteModel model = biased();
    const Law law = progressive_law(model, 2, 1, parse_ladder("1,2,4", "test"), stages, schedule);
    check_same(FixedHorizonSpace(model, 2), 3, law,
               ByHand(model, {1, 2, 4}).tempered(stages, schedule));
  }
}

TEST_CASE("Algorithm 1 by hand, four rungs, whose odd layer has two edges") {
  const std::vector<StageSchedule> stages{{1, 1, 1}, {1, 1, 2}};
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    const FiniteModel model = biased();
    const Law law = progressive_law(model, 2, 1, parse_ladder("1,2,4,5", "test"), stages, schedule);
    check_same(FixedHorizonSpace(model, 2), 4, law,
               ByHand(model, {1, 2, 4, 5}).tempered(stages, schedule));
  }
}

TEST_CASE("Algorithm 1 by hand on records of three tokens") {
  const std::vector<StageSchedule> stages{{2, 1, 1}, {1, 2, 1}};
  const FiniteModel model = uneven();
  const Law law = progressive_law(model, 2, 1, parse_ladder("1,3", "test"), stages);
  check_same(FixedHorizonSpace(model, 2), 2, law,
             ByHand(model, {1, 3}).tempered(stages, Schedule::adj));
}

TEST_CASE("the truncating sampler by hand, which may leave open records shorter than its stage") {
  const std::vector<StageSchedule> stages{{1, 1, 1}, {1, 2, 1}, {2, 1, 1}};
  const FiniteModel model = uneven();
  const Law law = truncating_progressive_law(model, 3, 1, Power(2), stages);
  const ComparisonSpace space(model, 3);
  const Masses masses = ByHand(model, {2}).truncated(stages);
  check_same(space, 1, law, masses);
  Rational short_and_open = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (!space.in_fixed_horizon_space(x)) short_and_open += law[x];
  CHECK(short_and_open > 0);
}

TEST_CASE("the truncating sampler stops after the first stage that ends a record") {
  const FiniteModel model = biased();
  const auto at = [&](const Law& law, const char* text) {
    return law[ComparisonSpace(model, 2).parse(text, "test")];
  };
  // Without moves: tokenwise decoding, whose first token is a with 4/5 and whose second with 1/10.
  const Law none = truncating_progressive_law(model, 2, 1, Power(2), {{0, 1, 1}});
  CHECK(at(none, "e") == q("1/5"));
  CHECK(at(none, "a e") == q("18/25"));
  // Moves of the second stage alone do not reach a record that ended with the first.
  const Law second = truncating_progressive_law(model, 2, 1, Power(2), {{0, 1, 1}, {5, 1, 1}});
  CHECK(at(second, "e") > q("1/5"));
  CHECK(at(second, "a") > 0);
  CHECK_THROWS_AS(truncating_progressive_law(model, 3, 1, Power(2), {{1, 1, 1}, {1, 1, 1}}),
                  BadInput);
}

TEST_CASE("stages end at min(mB, T)") {
  using Horizons = std::vector<std::size_t>;
  CHECK(stage_horizons(5, 2) == Horizons{2, 4, 5});
  CHECK(stage_horizons(4, 2) == Horizons{2, 4});
  CHECK(stage_horizons(3, 9) == Horizons{3});
  CHECK_THROWS_AS(stage_horizons(0, 1), BadInput);
  CHECK_THROWS_AS(stage_horizons(1, 0), BadInput);
}

TEST_CASE("without rounds Algorithm 1 is tokenwise temperature decoding") {
  const Law law = progressive_law(four_state(), 2, 1, parse_ladder("2", "test"), {{0, 1, 1}});
  CHECK(law == Law{q("1/4"), q("1/4"), q("1/2")});
}

TEST_CASE("one round at the second stage is one step of the fixed-horizon kernel") {
  const Law law =
      progressive_law(four_state(), 2, 1, parse_ladder("2", "test"), {{0, 1, 1}, {1, 1, 1}});
  CHECK(law == Law{q("7/32"), q("7/32"), q("9/16")});
}

TEST_CASE("a schedule per stage, or one for all") {
  CHECK_THROWS_AS(
      progressive_law(four_state(), 3, 1, parse_ladder("1", "test"), {{1, 1, 1}, {1, 1, 1}}),
      BadInput);
}

TEST_CASE("the target of a stage is that of its own horizon") {
  const Ladder ladder = parse_ladder("1,2", "test");
  // T_1 = 1: p0 = (1/2, 1/2) and its square normalised.
  CHECK(stage_target(four_state(), 2, 1, ladder, 1) == Law(4, q("1/4")));
  // T_2 = 2: (1/4, 1/4, 1/2) times (1/6, 1/6, 2/3).
  CHECK(stage_target(four_state(), 2, 1, ladder, 2) == Law{q("1/24"), q("1/24"), q("1/6"),
                                                           q("1/24"), q("1/24"), q("1/6"),
                                                           q("1/12"), q("1/12"), q("1/3")});
  CHECK_THROWS_AS(stage_target(four_state(), 2, 1, ladder, 0), BadInput);
  CHECK_THROWS_AS(stage_target(four_state(), 2, 1, ladder, 3), BadInput);
  CHECK_THROWS_AS(stage_target(four_state(), 40, 40, parse_ladder("1,2,3", "test"), 1), BadInput);
}

// The mistake to make is to take the beginning of Π_T for Π_m.
TEST_CASE("a stage's target is not the law of the beginnings of the last one's") {
  const Ladder ladder = parse_ladder("2", "test");
  const Law last = stage_target(four_state(), 2, 1, ladder, 2);
  const Law beginnings{last[0] + last[1], last[2]};
  CHECK(beginnings == Law{q("1/3"), q("2/3")});
  CHECK(stage_target(four_state(), 2, 1, ladder, 1) == Law{q("1/2"), q("1/2")});
}

TEST_CASE("laws of Algorithm 1") {
  law("a round preserves its stage's target, whose marginals are the rungs' targets", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(3);
    const std::size_t block = random::between<std::size_t>(1, horizon);
    const Ladder ladder = random::ladder(2);
    const auto horizons = stage_horizons(horizon, block);
    const std::size_t m = random::between<std::size_t>(1, horizons.size());
    const FixedHorizonSpace space(model, horizons[m - 1]);
    const Law target = stage_target(model, horizon, block, ladder, m);
    const ParallelTempering kernels(space, ladder, RestartLaw::uniform(horizons[m - 1]));
    RC_ASSERT(kernels.transition(1, 1).apply(target) == target);
    for (std::size_t k = 0; k < 2; ++k)
      RC_ASSERT(marginal(target, kernels.shape(), k) == power_target(space, ladder[k]));
  });
  law("its output is a law on S_T^K, within the convergence bound of the target", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(2);
    const std::size_t block = random::between<std::size_t>(1, horizon);
    const Ladder ladder = random::ladder(2);
    const auto rounds = random::between<std::size_t>(1, 2);
    const FixedHorizonSpace space(model, horizon);
    const ParallelTempering kernels(space, ladder, RestartLaw::uniform(horizon));

    const Law output = progressive_law(model, horizon, block, ladder, {{rounds, 1, 1}});
    RC_ASSERT(std::accumulate(output.begin(), output.end(), Rational(0)) == 1);
    const Rational tv = total_variation(output, kernels.target());
    const Rational epsilon = full_restart_weight(space, ladder, RestartLaw::uniform(horizon));
    RC_ASSERT(tv <= convergence_bound(epsilon, static_cast<unsigned>(rounds), 1));
    RC_ASSERT(total_variation(marginal(output, kernels.shape(), 1), kernels.rung_target(1)) <= tv);
  });
}

}  // namespace tempera::progressive_test
