// The cases before the asked ones, comparisons of laws, and how much of a tree has been walked.
#include "lab/judge/whole_program.hpp"

#include <algorithm>
#include <set>

#include "lab/judge/path_tree.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"
#include "tests/law.hpp"

namespace tempera::lab {

TEST_CASE("the cases before the asked ones are smaller, each once, those of fewest states first") {
  const reference::Power power(2, "test");
  std::vector<JudgedCase> asked;
  for (const char* name : {"four_state", "unequal_lengths", "unequal_lengths"})
    asked.emplace_back(shipped(name), 3, JudgedTarget{{power}, {}});
  const std::vector<JudgedCase> first = first_cases(asked);
  std::set<std::string> keys;
  std::size_t before = 2, two_tokens_at_full_horizon = 0;
  bool has_short_horizon = false;
  for (const JudgedCase& one : first) {
    CHECK(keys.insert(std::to_string(one.horizon()) + model_json(one.model())).second);
    CHECK(one.size() >= before);
    before = one.size();
    CHECK(3 * one.size() <= 2 * asked[1].size());
    CHECK(one.target().powers.size() == 1);
    has_short_horizon = has_short_horizon || one.horizon() == 1;
    two_tokens_at_full_horizon += one.horizon() == 3 && one.model().vocabulary_size() == 2;
  }
  CHECK(has_short_horizon);
  CHECK(two_tokens_at_full_horizon > 0);
  CHECK(first_cases({}).empty());
}

TEST_CASE("what goes round by merges has the law of the equations, and what never leaves is lost") {
  using reference::Rational;
  MergedPaths merged;
  PathTree tree(merged, true, true);
  // a: 1/2 to b, 1/4 back to itself, 1/4 ends; b: 1/3 back to a, 2/3 ends.
  REQUIRE(tree.merge("a"));
  tree.fork({2, 1, 1}, "", false);
  REQUIRE(tree.merge("b"));
  tree.fork({1, 2}, "", false);
  REQUIRE_FALSE(tree.merge("a"));
  tree.end({{1}});
  REQUIRE_FALSE(tree.merge("a"));
  tree.end({{0}});
  REQUIRE(tree.is_whole());
  CHECK(merged.resolved(tree.ends()) ==
        KernelRow{{JudgedState{{0}}, Rational(3, 7)}, {JudgedState{{1}}, Rational(4, 7)}});
  MergedPaths endless;
  PathTree other(endless, true, true);
  REQUIRE(other.merge("a"));
  other.fork({1, 1}, "", false);
  REQUIRE_FALSE(other.merge("a"));
  REQUIRE_FALSE(other.merge("a"));
  REQUIRE(other.is_whole());
  CHECK(endless.resolved(other.ends()) == KernelRow{{lost_state, Rational(1)}});
}

TEST_CASE("a path without an end keeps its probability, and the likeliest is known") {
  using reference::Rational;
  MergedPaths merged;
  PathTree tree(merged);
  tree.fork({1, 3}, "f:1", false);
  tree.lose("first", "f:2");
  tree.fork({1, 1}, "f:3", false);
  tree.lose("second", "f:4");
  tree.end({{0}});
  REQUIRE(tree.is_whole());
  CHECK(merged.resolved(tree.ends()) ==
        KernelRow{{lost_state, Rational(5, 8)}, {JudgedState{{0}}, Rational(3, 8)}});
  REQUIRE(tree.lost());
  CHECK(tree.lost()->why == "second");
  CHECK(tree.lost()->at == "f:4");
  CHECK(tree.lost()->probability == Rational(3, 8));
  CHECK(tree.lost()->draws.size() == 2);
}

TEST_CASE("a law that lacks some mass differs where that mass cannot be") {
  using reference::Rational;
  const TargetLaw other{{{0}, Rational(1, 2)}, {{1}, Rational(1, 2)}};
  const KernelRow lacking{
      {{{0}}, Rational(1, 2)}, {{{1}}, Rational(1, 4)}, {lost_state, Rational(1, 4)}};
  CHECK(compare_laws(lacking, other, 0).is_equal());
  const KernelRow more{
      {{{0}}, Rational(5, 8)}, {{{1}}, Rational(1, 8)}, {lost_state, Rational(1, 4)}};
  CHECK_FALSE(compare_laws(more, other, 0).is_equal());
}

// The distance against all events, the difference against all records in their order by hand.
TEST_CASE("two laws are as far apart as an event tells, and differ first at the shortest record") {
  using reference::Rational;
  law("a comparison of laws is that of its definition", [] {
    const std::vector<std::vector<reference::Token>> records{{},     {0},    {1},   {0, 0},
                                                             {0, 1}, {1, 0}, {1, 1}};
    const auto chances = [&](std::size_t more) {
      std::vector<Rational> shares;
      Rational sum = 0;
      for (std::size_t i = 0; i < records.size() + more; ++i)
        sum += shares.emplace_back(*rc::gen::element(0, 1, 1, 2, 3));
      RC_PRE(sum != 0);
      for (Rational& share : shares) share /= sum;
      return shares;
    };
    std::vector<Rational> mine = chances(*rc::gen::element<std::size_t>(0, 1));
    const std::vector<Rational> theirs =
        *rc::gen::inRange(0, 4) == 0 && mine.size() == records.size() ? mine : chances(0);
    const Rational within = *rc::gen::element(Rational(0), Rational(1, 8));
    KernelRow answers;
    TargetLaw other;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (mine[i] != 0) answers[{records[i]}] = mine[i];
      if (theirs[i] != 0) other[records[i]] = theirs[i];
    }
    const Rational lost = mine.size() > records.size() ? mine.back() : Rational(0);
    if (lost != 0) answers[lost_state] = lost;
    Rational above = 0, below = 0;
    for (unsigned event = 0; event < 1U << records.size(); ++event) {
      Rational apart = 0;
      for (std::size_t i = 0; i < records.size(); ++i)
        if ((event >> i & 1U) != 0) apart += mine[i] - theirs[i];
      above = std::max(above, apart);
      below = std::min(below, apart);
    }
    const LawComparison found = compare_laws(answers, other, within);
    RC_ASSERT(found.tv == (above - below) / 2);
    std::size_t first = 0;
    while (first < records.size() && mine[first] <= theirs[first] + within &&
           theirs[first] <= mine[first] + within + lost)
      ++first;
    RC_ASSERT(found.is_equal() == (first == records.size()));
    if (found.is_equal()) return;
    RC_ASSERT(found.difference->record == records[first]);
    RC_ASSERT(found.difference->program == mine[first]);
    RC_ASSERT(found.difference->other == theirs[first]);
  });
}

TEST_CASE("the share of a tree that has been walked grows from path to path, to all of it") {
  MergedPaths merged;
  PathTree tree(merged);
  tree.fork({1, 3}, "", false);
  CHECK(tree.share_done() == 0.0);
  tree.fork({1, 0, 1, 1}, "", false);
  tree.end({{0}});
  CHECK(tree.share_done() == 1.0 / 6);
  tree.end({{0}});
  CHECK(tree.merge("a"));
  CHECK(tree.share_done() == 1.0 / 6 + 1.0 / 6);
  tree.end({{0}});
  CHECK(tree.share_done() == 0.5);
  tree.end({{1}});
  CHECK(tree.is_whole());
  CHECK(tree.share_done() == 1.0);
}

TEST_CASE("what follows a merge is walked from the first of several states, and counts for all") {
  using reference::Rational;
  MergedPaths merged;
  PathTree one(merged, true, true), other(merged, true, true);
  one.fork({1, 1}, "", false);
  one.end({{0}});
  REQUIRE(one.merge("a"));
  one.fork({1, 3}, "", false);
  one.end({{1}});
  one.end({{2}});
  REQUIRE(one.is_whole());
  other.fork({1, 2}, "", false);
  REQUIRE_FALSE(other.merge("a"));
  other.end({{3}});
  REQUIRE(other.is_whole());
  CHECK(merged.resolved(one.ends()) == KernelRow{{JudgedState{{0}}, Rational(1, 2)},
                                                 {JudgedState{{1}}, Rational(1, 8)},
                                                 {JudgedState{{2}}, Rational(3, 8)}});
  CHECK(merged.resolved(other.ends()) == KernelRow{{JudgedState{{1}}, Rational(1, 12)},
                                                   {JudgedState{{2}}, Rational(1, 4)},
                                                   {JudgedState{{3}}, Rational(2, 3)}});
}

}  // namespace tempera::lab
