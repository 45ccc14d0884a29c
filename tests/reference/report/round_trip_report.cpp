#include "reference/report/round_trip_report.hpp"

#include <map>

#include "base/error.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/swap.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

namespace {

struct State {
  std::vector<std::size_t> records;
  std::size_t rung;
  bool was_at_bottom;
  auto operator<=>(const State&) const = default;
};

/// Every path of records and tag, by dense kernels and one swap after the other.
std::vector<Rational> followed(const ParallelTempering& chain, Schedule schedule,
                               std::size_t rounds) {
  const Shape& shape = chain.shape();
  const std::size_t rung_count = shape.size();
  const Matrix local = chain.local_sweep().matrix();
  const Law target = chain.target();
  std::map<State, Rational> law;
  for (std::size_t state = 0; state < target.size(); ++state)
    law[{coordinates(shape, state), rung_count - 1, false}] = target[state];
  std::vector<Rational> curve{0};
  for (std::size_t n = 0; n < rounds; ++n) {
    std::map<State, Rational> next;
    for (const auto& [state, mass] : law)
      for (std::size_t to = 0; to < target.size(); ++to)
        next[{coordinates(shape, to), state.rung, state.was_at_bottom}] +=
            mass * local(joint_state(shape, state.records), to);
    for (std::size_t k = schedule == Schedule::adj ? 0 : n % 2; k + 1 < rung_count;
         k += schedule == Schedule::adj ? 1 : 2) {
      const Matrix acceptance = swap_acceptance(chain.rung_target(k), chain.rung_target(k + 1));
      law = std::move(next);
      next.clear();
      for (const auto& [state, mass] : law) {
        const Rational accepted = acceptance(state.records[k], state.records[k + 1]);
        next[state] += mass * (1 - accepted);
        State swapped = state;
        std::swap(swapped.records[k], swapped.records[k + 1]);
        if (state.rung == k) swapped.rung = k + 1;
        if (state.rung == k + 1) swapped.rung = k;
        next[swapped] += mass * accepted;
      }
    }
    law.clear();
    curve.push_back(curve.back());
    for (const auto& [reached, mass] : next) {
      State state = reached;
      if (state.rung == 0) state.was_at_bottom = true;
      if (state.rung == rung_count - 1 && state.was_at_bottom) {
        state.was_at_bottom = false;
        curve.back() += mass;
      }
      law[state] += mass;
    }
  }
  return curve;
}

}  // namespace

TEST_CASE("round trips are those of every path of records and tag") {
  law("two and three rungs, both schedules", [] {
    const FiniteModel model = random::model();
    const auto rungs = random::between<std::size_t>(2, 3);
    const std::size_t horizon = 1;
    const Ladder ladder = random::ladder(static_cast<int>(rungs));
    const ParallelTempering dense(FixedHorizonSpace(model, horizon), ladder,
                                  RestartLaw::uniform(horizon));
    const Schedule schedule = random::between(0, 1) == 0 ? Schedule::adj : Schedule::deo;
    const auto report = report_round_trips(model, ladder, schedule, {horizon, {}, {}, {}}, 4);
    RC_ASSERT(report.expected == followed(dense, schedule, 4));
  });

  const auto model = parse_finite_model(four_state_model, "model");
  const Ladder ladder = parse_ladder("1,2,4", "ladder");
  const ParallelTempering dense(FixedHorizonSpace(model, 2), ladder, RestartLaw::uniform(2));
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    const auto report = report_round_trips(model, ladder, schedule, {2, {}, {}, {}}, 7);
    CHECK(report.expected == followed(dense, schedule, 7));
    CHECK(report.expected.back() > 0);
    const auto acceptances = diagnose_ladder(FixedHorizonSpace(model, 2), ladder).acceptances;
    CHECK(report.formula == (schedule == Schedule::adj ? adj_round_trip(acceptances).total()
                                                       : deo_round_trip(acceptances).total()));
  }
}

TEST_CASE("where every swap is accepted, one round trip of three rungs takes three sweeps") {
  const auto fair = parse_finite_model(
      R"({"name": "fair", "vocabulary": ["a", "b"], "terminal": [],
          "default": {"a": "1/2", "b": "1/2"}})",
      "fair");
  const Ladder ladder = parse_ladder("1,2,4", "ladder");
  const auto sweeps = report_round_trips(fair, ladder, Schedule::adj, {3, {}, {}, {}}, 7);
  CHECK(sweeps.expected == std::vector<Rational>{0, 0, 0, 1, 1, 1, 2, 2});
  CHECK(sweeps.formula == 3);
  CHECK(report_round_trips(fair, ladder, Schedule::deo, {3, {}, {}, {}}, 1).formula == 6);
  CHECK_THROWS_AS(
      report_round_trips(fair, parse_ladder("2", "ladder"), Schedule::adj, {3, {}, {}, {}}, 1),
      BadInput);
}
