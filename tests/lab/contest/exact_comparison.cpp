// What an exact comparison chooses if it is not told.
#include "lab/contest/exact_comparison.hpp"

#include <functional>
#include <set>

#include "base/error.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::exact_comparison_test {
namespace {

/// The records of a horizon, one by one: a terminal token ends one, and so does the horizon.
std::size_t records_of(const reference::FiniteModel& model, std::size_t horizon) {
  std::vector<reference::Token> prefix;
  const std::function<std::size_t()> below = [&]() -> std::size_t {
    if (prefix.size() == horizon || (!prefix.empty() && model.is_terminal(prefix.back()))) return 1;
    std::size_t records = 0;
    const auto row = model.token_row(prefix);
    for (std::size_t token = 0; token < row.size(); ++token) {
      if (row[token] == 0) continue;
      prefix.push_back(static_cast<reference::Token>(token));
      records += below();
      prefix.pop_back();
    }
    return records;
  };
  return below();
}

/// The longest horizon up to 4 with at most 2048 joint states of all rungs, each of them a record.
std::size_t longest(const reference::FiniteModel& model, std::size_t rungs) {
  std::size_t longest = 1;
  try {
    for (std::size_t horizon = 2; horizon <= 4; ++horizon) {
      const auto records = static_cast<double>(records_of(model, horizon));
      double joint = 1.0;
      for (std::size_t k = 0; k < rungs; ++k) joint *= records;
      if (joint <= 2048.0 && records <= 1024.0) longest = horizon;
    }
  } catch (const BadInput&) {
    // The model has no rows for longer records.
  }
  return longest;
}

}  // namespace

TEST_CASE("the horizon that a comparison chooses is the longest whose joint states are few") {
  std::set<std::size_t> seen;
  for (const char* name :
       {"four_state", "bimodal", "several_terminals", "unequal_lengths", "late_payoff", "ties"})
    for (const char* powers : {"3", "1,3", "1,2,4", "1,2,3,4", "1,2,3,4,5,6,7"}) {
      CAPTURE(name, powers);
      const auto model = shipped(name);
      lab::ExactComparisonSettings settings{0, 0, reference::parse_ladder(powers, "powers")};
      const auto all = lab::chosen(model, settings);
      CHECK(all.horizon == longest(model, settings.ladder.rungs()));
      // Two stages, the first not the shorter.
      CHECK(all.block == all.horizon - all.horizon / 2);
      seen.insert(all.horizon);
      // What is told is not chosen.
      settings.horizon = 3;
      settings.block = 3;
      CHECK(lab::chosen(model, settings).horizon == 3);
      CHECK(lab::chosen(model, settings).block == 3);
    }
  CHECK(seen.size() >= 3);
}

}  // namespace tempera::exact_comparison_test
