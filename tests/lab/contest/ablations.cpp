#include "lab/contest/ablations.hpp"

#include <fstream>
#include <iterator>
#include <map>

#include "base/error.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;
using reference::Rational;

namespace {

lab::ExactComparisonSettings settings(const std::string& powers) {
  return {2, 1, reference::parse_ladder(powers, "powers"), 1, 1, 1};
}

lab::ExactRow row_of(const std::vector<lab::Ablation>& all, const std::string& name,
                     const std::string& sampler) {
  for (const lab::Ablation& ablation : all)
    for (const lab::ExactRow& row : ablation.rows)
      if (ablation.name == name && row.sampler == sampler) return row;
  FAIL("no row " + sampler);
  return {};
}

}  // namespace

TEST_CASE("each ablation varies one thing about ppt and leaves the rest") {
  const auto model = shipped("several_terminals");
  const auto all = lab::ablations(model, settings("1,3,9"));
  REQUIRE(all.size() == 7);
  const lab::Contest contest(model, 2, 1, reference::parse_power("9", "power"), 1);
  const auto tempering = [&](const std::string& powers, std::size_t rounds) {
    return contest.tempering(reference::parse_ladder(powers, "powers"), rounds, 1,
                             reference::Schedule::adj);
  };
  const lab::ExactRow ppt = tempering("1,3,9", 1);
  for (const char* name : {"single chain", "uncoupled ladder", "schedule", "truncation"}) {
    CAPTURE(name);
    CHECK(row_of(all, name, "ppt").tv == ppt.tv);
    CHECK(row_of(all, name, "ppt").decode_tokens == ppt.decode_tokens);
  }
  CHECK(row_of(all, "single chain", "fixed-horizon").decode_tokens >= ppt.decode_tokens);
  CHECK(row_of(all, "replicas", "K = 1").tv == contest.single_chain(1).tv);
  CHECK(row_of(all, "replicas", "K = 2").tv == tempering("1,9", 1).tv);
  CHECK(row_of(all, "truncation", "fixed-horizon").tv == contest.single_chain(1).tv);
  CHECK(row_of(all, "truncation", "power-sampling").open_probability ==
        contest.truncating(1).open_probability);
  std::size_t rounds = 1;
  for (const lab::ExactRow& row : all[4].rows) {
    CHECK(row.tv == tempering("1,3,9", rounds).tv);
    rounds *= 2;
  }
  CHECK(rounds == 16);
  CHECK(row_of(all, "ladder", "arithmetic").tv == tempering("1,5,9", 1).tv);
  CHECK(row_of(all, "ladder", "geometric").tv == ppt.tv);
  // The random ladder's mean, and the best of the weakest edges, by going through all.
  Rational mean = 0, best = 0;
  std::string best_powers;
  for (unsigned m = 2; m <= 8; ++m) {
    const std::string powers = "1," + std::to_string(m) + ",9";
    mean += tempering(powers, 1).tv / 7;
    const auto ladder = reference::parse_ladder(powers, "powers");
    const auto diagnosis = reference::diagnose_ladder(contest.space(), ladder);
    const Rational weakest = diagnosis.acceptances[diagnosis.weakest];
    if (weakest > best) {
      best = weakest;
      best_powers = powers;
    }
  }
  CHECK(row_of(all, "ladder", "random").tv == mean);
  CHECK(row_of(all, "ladder", "equi-accepting").effort == "powers " + best_powers);
  CHECK(row_of(all, "replicas", "K = 3").effort == "powers " + best_powers);
}

TEST_CASE("docs/reference/samplers.md shows the ablations of three models as they are") {
  lab::ExactComparisonSettings shown = settings("1,3,9");
  shown.horizon = shown.block = 0;
  std::vector<std::string> keys;
  std::map<std::string, std::map<std::string, std::string>> cells;
  const std::vector<std::string> models{"four_state", "bimodal", "late_payoff"};
  for (const std::string& model : models)
    for (const lab::Ablation& ablation : lab::ablations(shipped(model), shown))
      for (const lab::ExactRow& row : ablation.rows) {
        const std::string key =
            ablation.name + ", " + (ablation.name == "refinement" ? row.effort : row.sampler);
        if (!cells.contains(key)) keys.push_back(key);
        cells[key][model] = reference::to_decimal(row.tv, 4);
      }
  CHECK(keys.size() >= 20);
  std::string table;
  for (const std::string& key : keys) {
    table += "| " + key;
    for (const std::string& model : models)
      table += " | " + (cells[key].contains(model) ? cells[key][model] : "-");
    table += " |\n";
  }
  std::ifstream file(TEMPERA_SOURCE_DIR "/docs/reference/samplers.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  CHECK_THAT(page, Catch::Contains(table));
}

TEST_CASE("a range without whole powers between is not a range for ablations") {
  const auto model = shipped("four_state");
  for (const char* powers : {"3", "1/2,2", "1,100"}) {
    CAPTURE(powers);
    CHECK_THROWS_AS(lab::ablations(model, settings(powers)), tempera::BadInput);
  }
  // Between 1 and 2 there is none: no ladder of three rungs.
  const auto all = lab::ablations(model, settings("1,2"));
  CHECK(all[5].rows.empty());
  CHECK(all[3].rows.size() == 2);
}
