#include "reference/report/mixing_report.hpp"

#include "reference/kernels/parallel_tempering.hpp"
#include "tests/reference/four_state.hpp"

using namespace tempera::reference;

namespace {

ExactQuestion horizon_of(std::size_t tokens) {
  ExactQuestion asked;
  asked.horizon = tokens;
  return asked;
}

MixingReport of_four_state(const char* powers, Schedule schedule, std::size_t horizon = 2) {
  return report_mixing(four_state(), parse_ladder(powers, "test"), schedule, horizon_of(horizon),
                       {true, Rational(1, 4), true});
}

}  // namespace

// L has rows (3/8, 3/8, 1/4) twice and (1/16, 1/16, 7/8), and π = (1/6, 1/6, 2/3). Between a and e
// 2/6 · 1/4 flows; from (a a) and (a e) the distance is 5/6, 5/12, 25/96 and then below 1/4.
TEST_CASE("four_state's mixing time, gap and cuts by hand") {
  const MixingReport report = of_four_state("2", Schedule::adj);
  REQUIRE(report.time);
  CHECK(report.time->steps == 3);
  CHECK((report.worst_start == "a a" || report.worst_start == "a e"));
  REQUIRE(report.second);
  CHECK(report.second->lower <= Rational(5, 8));
  CHECK(report.second->upper >= Rational(5, 8));
  REQUIRE(report.first_token_cut);
  CHECK(report.first_token_cut->classes == std::vector<std::string>{"a"});
  CHECK(report.first_token_cut->cut.mass == Rational(1, 3));
  CHECK(report.first_token_cut->cut.flow == Rational(1, 12));
  CHECK(report.first_token_cut->cut.conductance() == Rational(1, 4));
  CHECK(report.first_token_cut->cut.gap_at_most() == Rational(3, 8));
  CHECK(*report.first_token_cut->cut.steps_at_least(Rational(1, 4)) == Rational(5, 3));
  REQUIRE(report.any_cut);
  CHECK(report.any_cut->classes == std::vector<std::string>{"a a", "a e"});
  CHECK(report.any_cut->cut.gap_at_least() == Rational(1, 32));
}

TEST_CASE("a ladder's cuts are between first tokens of its last rung") {
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    const MixingReport report = of_four_state("1,2", schedule);
    REQUIRE(report.first_token_cut);
    CHECK(report.first_token_cut->classes == std::vector<std::string>{"a"});
    CHECK(report.first_token_cut->cut.mass == Rational(1, 3));
    const FixedHorizonSpace space(four_state(), 2);
    const ParallelTempering kernels(space, parse_ladder("1,2", "test"), RestartLaw::uniform(2));
    const Matrix kernel =
        (schedule == Schedule::adj ? kernels.transition(1, 1) : kernels.deo_transition()).matrix();
    Rational flow = 0;
    for (std::size_t x = 0; x < 9; ++x)
      for (std::size_t y = 0; y < 9; ++y)
        if (x % 3 != 2 && y % 3 == 2) flow += kernels.target()[x] * kernel(x, y);
    CHECK(report.first_token_cut->cut.flow == flow);
    // λ is that of P P*, and of P P where the chain is its own reverse.
    const Law target = kernels.target();
    Matrix product(9, 9);
    for (std::size_t x = 0; x < 9; ++x)
      for (std::size_t y = 0; y < 9; ++y)
        for (std::size_t z = 0; z < 9; ++z)
          product(x, y) += schedule == Schedule::adj
                               ? kernel(x, z) * target[y] * kernel(y, z) / target[z]
                               : kernel(x, z) * kernel(z, y);
    REQUIRE(report.second);
    CHECK(report.second->upper - report.second->lower <= Rational(1) / (std::int64_t{1} << 31));
    CHECK(eigenvalues_above(product, target, report.second->lower) >= 2);
    CHECK(eigenvalues_above(product, target, report.second->upper) < 2);
    CHECK(report.any_cut->classes.size() < 9);
  }
}

// 2^13 records: there is no matrix.
TEST_CASE("cuts of a space without a matrix, and the sizes at which each question ends") {
  const auto coins = parse_finite_model(
      R"({"name": "coins", "vocabulary": ["a", "b"], "terminal": [],
          "default": {"a": "2/3", "b": "1/3"}})",
      "coins");
  const Ladder one = parse_ladder("2", "test");
  const MixingReport report =
      report_mixing(coins, one, Schedule::adj, horizon_of(13), {false, std::nullopt, true});
  REQUIRE(report.first_token_cut);
  CHECK(report.first_token_cut->classes == std::vector<std::string>{"b"});
  // Every row has the same normalizer, so that each proposal is accepted: a restart at 1 draws the
  // first token from (4/5, 1/5).
  CHECK(report.first_token_cut->cut.mass == Rational(1, 5));
  CHECK(report.first_token_cut->cut.flow == Rational(1, 13) * Rational(4, 25));
  CHECK_FALSE(report.any_cut);
  const auto refuses = [&](std::size_t horizon, const MixingQuestion& mixing, const char* said) {
    CHECK_THROWS_WITH(report_mixing(coins, one, Schedule::adj, horizon_of(horizon), mixing),
                      Catch::Contains(said));
  };
  refuses(13, {true, std::nullopt, false}, "8192");
  refuses(13, {false, Rational(1, 4), false}, "8192");
  refuses(17, {false, std::nullopt, true}, "cuts");
  CHECK(
      report_mixing(coins, one, Schedule::adj, horizon_of(9), {true, std::nullopt, false}).second);
  // Never leaves its start: restarts at the second token alone.
  ExactQuestion late = horizon_of(2);
  late.restart = parse_restart_law("0,1", 2, "test");
  CHECK_THROWS_WITH(report_mixing(coins, one, Schedule::adj, late, {false, Rational(1, 4), false}),
                    Catch::Contains("mixing time") && Catch::Contains("1048576"));
  const auto cut = report_mixing(coins, one, Schedule::adj, late, {false, std::nullopt, true});
  CHECK(cut.first_token_cut->cut.flow == 0);
  CHECK_FALSE(cut.first_token_cut->cut.steps_at_least(Rational(1, 4)));
}
