#include "lab/judge/verdict.hpp"

#include <algorithm>

#include "lab/defects/kernel_gallery.hpp"
#include "lab/defects/small_kernels.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "tests/between.hpp"
#include "tests/law.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

namespace tempera::verdict_test {

using namespace tempera;
using namespace tempera::lab;
using reference::Power;
using reference::q;

namespace {

JudgedCase four_state_case(std::size_t horizon = 2) {
  return {reference::four_state(), horizon, {{Power(2)}, {}}};
}

using TokenLaw = std::map<std::vector<reference::Token>, Rational>;

JudgedState state_of(const std::vector<reference::Token>& record) { return JudgedState(1, record); }

/// A kernel whose rows are those of a matrix.
JudgedKernel of_matrix(reference::Matrix matrix) {
  return [matrix = std::move(matrix)](const JudgedCase& judged, const JudgedState& from) {
    KernelRow row;
    for (std::size_t y = 0; y < judged.size(); ++y)
      row[judged.state(y)] = matrix(*judged.find(from), y);
    return row;
  };
}

}  // namespace

TEST_CASE("lost mass may be at any state, and a kernel fails if it fails wherever that is") {
  const JudgedCase judged = four_state_case();
  const auto of = [&](Rational lost, Rational moved) {
    return judge_kernel(
        [&, lost, moved](const JudgedCase& one, const JudgedState& from) {
          // It draws from the target, but for what is lost from each state and what is moved.
          KernelRow row;
          for (std::size_t y = 0; y < one.size(); ++y) row[one.state(y)] = one.law()[y];
          row[from] -= lost + moved;
          row[lost_state] += lost;
          row[one.state(0)] += moved;
          return row;
        },
        judged);
  };
  CHECK(of(0, 0).lost == 0);
  const KernelVerdict lacking = of(q("1/100"), 0);
  CHECK(lacking.sound());
  CHECK(lacking.lost == q("1/100"));
  CHECK(lacking.tv_limit);
  CHECK_FALSE(of(q("1/100"), q("1/20")).sound());
  CHECK_FALSE(of(0, q("1/100")).sound());
}

TEST_CASE("a verdict holds the numbers worked out by hand") {
  // The paper's kernel with the last row's 1/16 and 7/8 changed to 1/8 and 3/4.
  const auto planted = reference::matrix_of({{q("3/8"), q("3/8"), q("1/4")},
                                             {q("3/8"), q("3/8"), q("1/4")},
                                             {q("1/8"), q("1/8"), q("3/4")}});
  const KernelVerdict verdict = judge_kernel(of_matrix(planted), four_state_case());
  CHECK(verdict.stochastic());
  CHECK_FALSE(verdict.invariant());
  CHECK_FALSE(verdict.reversible());
  CHECK(verdict.irreducible);
  CHECK_FALSE(verdict.sound());
  // π = (1/6, 1/6, 2/3): the mass of e becomes 1/12 + 1/2.
  CHECK(verdict.moved->state == "e");
  CHECK(verdict.moved->before == q("2/3"));
  CHECK(verdict.moved->after == q("7/12"));
  CHECK(verdict.unbalanced->from == "a a");
  CHECK(verdict.unbalanced->to == "e");
  CHECK(verdict.unbalanced->forward_flow == q("1/24"));
  CHECK(verdict.unbalanced->reverse_flow == q("1/12"));
  CHECK(verdict.tv_one_step == q("1/12"));
  // Its stationary law is (1/4, 1/4, 1/2).
  CHECK(verdict.tv_limit == q("1/6"));
}

TEST_CASE("laws of verdicts") {
  law("the paper's move in rationals has the matrix of reference, and is sound", [] {
    const auto model = reference::random::model();
    const std::size_t horizon = reference::random::horizon(2);
    const Power power = reference::random::power();
    const JudgedCase judged(model, horizon, {{power}, {}});
    const reference::FixedHorizonSpace space(model, horizon);
    const auto dense =
        reference::fixed_horizon_kernel(space, power, reference::RestartLaw::uniform(horizon));
    const JudgedKernel small = kernel_of(SmallMove());
    for (std::size_t x = 0; x < judged.size(); ++x) {
      KernelRow row = small(judged, judged.state(x));
      for (std::size_t y = 0; y < judged.size(); ++y)
        RC_ASSERT(row[judged.state(y)] == dense(x, y));
    }
    RC_ASSERT(judge_kernel(small, judged).sound());
    RC_ASSERT(judge_kernel(small, judged).reversible());
  });
}

TEST_CASE("a round in rationals has the matrix of reference") {
  const JudgedCase judged(reference::four_state(), 2, {{Power(1), Power(2), Power(4)}, {}});
  const reference::FixedHorizonSpace space(reference::four_state(), 2);
  const auto dense = reference::ParallelTempering(space, reference::parse_ladder("1,2,4", "test"),
                                                  reference::RestartLaw::uniform(2))
                         .transition(1, 1)
                         .matrix();
  const JudgedKernel small = kernel_of(SmallRound());
  REQUIRE(judged.size() == dense.rows());
  for (std::size_t x = 0; x < judged.size(); ++x) {
    KernelRow row = small(judged, judged.state(x));
    for (std::size_t y = 0; y < judged.size(); ++y) CHECK(row[judged.state(y)] == dense(x, y));
  }
  CHECK(judge_kernel(small, judged).sound());
  CHECK_FALSE(judge_kernel(small, judged).reversible());
}

TEST_CASE("of all that leaves the space the first is told, of the states with the fewest tokens") {
  const JudgedCase judged = four_state_case();
  const std::vector<JudgedState> outside{state_of({0}), state_of({0, 0, 0}), state_of({1, 0}),
                                         state_of({1, 1})};
  law("whichever states are left, and to whichever places", [&] {
    std::vector<KernelRow> rows(judged.size());
    for (std::size_t x = 0; x < rows.size(); ++x) {
      Rational left = 1;
      for (const JudgedState& place : outside) {
        if (between(0, 1) == 0) continue;
        rows[x][place] = Rational(between(1, 3)) / 16;
        left -= rows[x][place];
      }
      rows[x][judged.state(x)] = left;
    }
    std::optional<std::size_t> first;
    for (std::size_t x = 0; x < rows.size(); ++x)
      if (rows[x].size() > 1 && (!first || judged.tokens(x) < judged.tokens(*first))) first = x;
    const KernelVerdict verdict = judge_kernel(
        [&](const JudgedCase& one, const JudgedState& from) { return rows[*one.find(from)]; },
        judged);
    RC_ASSERT(verdict.escape.has_value() == first.has_value());
    if (!first) return;
    const auto to = std::find_if(outside.begin(), outside.end(), [&](const JudgedState& place) {
      return rows[*first].contains(place);
    });
    RC_ASSERT(verdict.escape->from == judged.name(judged.state(*first)));
    RC_ASSERT(verdict.escape->to == judged.name(*to));
    RC_ASSERT(verdict.escape->probability == rows[*first].at(*to));
  });
}

TEST_CASE("a kernel that leaves the space, or cannot leave a state, is not sound") {
  const JudgedKernel leaves = [](const JudgedCase&, const JudgedState&) {
    KernelRow row;
    row[state_of({0})] = q("1/3");
    row[state_of({1})] = q("2/3");
    return row;
  };
  const KernelVerdict verdict = judge_kernel(leaves, four_state_case());
  CHECK_FALSE(verdict.stochastic());
  CHECK(verdict.escape->from == "e");
  CHECK(verdict.escape->to == "a");
  CHECK(verdict.escape->probability == q("1/3"));
  CHECK_FALSE(verdict.tv_limit);
  const JudgedKernel stays = [](const JudgedCase&, const JudgedState& x) {
    return KernelRow{{x, Rational(1)}};
  };
  const KernelVerdict stuck = judge_kernel(stays, four_state_case());
  CHECK(stuck.invariant());
  CHECK(stuck.reversible());
  CHECK_FALSE(stuck.irreducible);
  CHECK_FALSE(stuck.tv_limit);
  CHECK_FALSE(stuck.sound());
  const JudgedKernel loses = [](const JudgedCase&, const JudgedState& x) {
    return KernelRow{{x, q("1/2")}};
  };
  CHECK_THROWS_WITH(judge_kernel(loses, four_state_case()), Catch::Contains("sums to 1/2"));
}

TEST_CASE("rounding that is allowed is not called a failure, and no more than that") {
  const auto off_by = [](const char* much) {
    const auto d = q(much);
    return reference::matrix_of({{q("3/8"), q("3/8"), q("1/4")},
                                 {q("3/8"), q("3/8"), q("1/4")},
                                 {q("1/16") + d, q("1/16"), q("7/8") - d}});
  };
  CHECK_FALSE(judge_kernel(of_matrix(off_by("1/1000000")), four_state_case()).sound());
  const KernelVerdict near =
      judge_kernel(of_matrix(off_by("1/1000000")), four_state_case(), q("1/1000000"));
  CHECK(near.sound());
  CHECK(near.reversible());
  CHECK(near.tv_one_step == q("1/1500000"));
  CHECK_FALSE(judge_kernel(of_matrix(off_by("1/1000")), four_state_case(), q("1/1000000")).sound());
}

TEST_CASE("a state that the target gives nothing need not be reached") {
  JudgedTarget target;
  target.law = TokenLaw{{{0, 0}, q("1/4")}, {{1}, q("3/4")}};
  const JudgedCase judged(reference::four_state(), 2, target);
  REQUIRE(judged.law() == reference::Law{q("1/4"), q("0"), q("3/4")});
  const auto of_rows = [&](const std::vector<reference::Law>& rows) {
    return judge_kernel(of_matrix(reference::matrix_of(rows)), judged);
  };
  const reference::Law law = judged.law();
  CHECK(of_rows({law, law, law}).sound());
  // One that it gives something must be, from everywhere: here neither reaches the other.
  const reference::Law one{1, 0, 0}, other{0, 0, 1};
  CHECK_FALSE(of_rows({one, law, other}).irreducible);
  CHECK_FALSE(of_rows({one, one, law}).irreducible);
}

TEST_CASE("a case that cannot be judged is refused") {
  CHECK_THROWS_WITH(JudgedCase(reference::four_state(), 40, {{Power(1), Power(2)}, {}}),
                    Catch::Contains("1681 states, more than the 1024"));
  JudgedTarget target;
  target.law = TokenLaw{{{0, 0}, q("1/2")}, {{1}, q("1/3")}};
  CHECK_THROWS_WITH(JudgedCase(reference::four_state(), 2, target), Catch::Contains("sums to 5/6"));
  target.law = TokenLaw{{{0}, q("1/2")}, {{1}, q("1/2")}};
  CHECK_THROWS_WITH(JudgedCase(reference::four_state(), 2, target),
                    Catch::Contains("no record of horizon 2"));
  target.law = TokenLaw{{{0, 0}, q("3/2")}, {{1}, q("-1/2")}};
  CHECK_THROWS_WITH(JudgedCase(reference::four_state(), 2, target),
                    Catch::Contains("is negative at e"));
  target.law = TokenLaw{{{0, 0}, q("1/4")}, {{1}, q("3/4")}};
  const JudgedCase own(reference::four_state(), 2, target);
  CHECK(own.law() == reference::Law{q("1/4"), q("0"), q("3/4")});
}

}  // namespace tempera::verdict_test
