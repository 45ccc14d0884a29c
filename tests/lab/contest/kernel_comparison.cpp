#include "lab/contest/kernel_comparison.hpp"

#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/decode_tokens.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/progressive.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;
using reference::Rational;

// Algorithm 1 with one stage is the same start and the same moves.
TEST_CASE("the paper's kernel spends and leaves what Algorithm 1 does") {
  const auto model = shipped("unequal_lengths");
  const reference::FixedHorizonSpace space(model, 4);
  const auto ladder = reference::parse_ladder("1,2,4", "test");
  for (const auto schedule : {reference::Schedule::adj, reference::Schedule::deo}) {
    const auto run = [&](std::size_t rounds) {
      return progressive_run(model, 4, 4, ladder, {{rounds, 1, 1}}, schedule);
    };
    const auto tv = [&](const reference::ProgressiveRun& of) {
      const reference::Shape shape(3, space.size());
      return reference::total_variation(reference::marginal(of.law, shape, 2),
                                        power_target(space, ladder[2]));
    };
    const auto comparison = lab::compare_kernels({space, ladder, 3}, {lab::paper_kernel(schedule)});
    CHECK(comparison.budget == run(3).decode_tokens - run(0).decode_tokens);
    CHECK(comparison.tv_start == tv(run(0)));
    CHECK(comparison.rows[0].tv == tv(run(3)));
    CHECK(comparison.rows[0].moves == 3);
    CHECK_FALSE(comparison.rows[0].gap);
  }
}

// A kernel that does what another does at twice its tokens spends the budget in half the moves.
TEST_CASE("tokens decide how far a kernel gets") {
  const auto model = shipped("several_terminals");
  const reference::FixedHorizonSpace space(model, 3);
  const auto ladder = reference::parse_ladder("2", "test");
  const lab::ComparedKernel paper = lab::paper_kernel();
  const lab::ComparedKernel dear{"dear", [&](const auto& of_space, const auto& power) {
                                   lab::LocalKernel local = paper.local(of_space, power);
                                   for (Rational& tokens : local.tokens) tokens *= 2;
                                   return local;
                                 }};
  const auto rows = lab::compare_kernels({space, ladder, 4}, {paper, dear}).rows;
  CHECK(rows[1].tokens == 2 * rows[0].tokens);
  CHECK(rows[1].tv > rows[0].tv);
  CHECK((rows[1].moves == 1 || rows[1].moves == 2));
  REQUIRE(rows[0].gap);
  CHECK(rows[1].gap->lower == rows[0].gap->lower);
  CHECK(rows[0].gap->lower > 0);
  CHECK(rows[0].gap->upper < 1);
}

// Every part of the mixture by hand: two moves of the dear kernel are too many, one is too few.
TEST_CASE("the law at the budget mixes the moves before and after it") {
  const auto model = shipped("four_state");
  const reference::FixedHorizonSpace space(model, 2);
  const auto ladder = reference::parse_ladder("2", "test");
  const auto full = lab::restart_kernel(
      "full",
      [](std::size_t) {
        return reference::RestartLaw({Rational(1), Rational(0)});
      },
      reference::RestartRange::horizon);
  const auto comparison = lab::compare_kernels({space, ladder, 2}, {lab::paper_kernel(), full});
  // From the start (1/4, 1/4, 1/2) a paper's move is expected to take 1/2 (3/2 + 1/2) tokens, and
  // after it the law is (1/4, 1/4, 1/2) L.
  const reference::Law start{Rational(1, 4), Rational(1, 4), Rational(1, 2)};
  const reference::Law target = power_target(space, ladder[0]);
  const auto once = [&](const lab::ComparedKernel& kernel, const reference::Law& law) {
    return reference::FactoredKernel(kernel.local(space, ladder[0]).matrix).apply(law);
  };
  const reference::Law moved = once(lab::paper_kernel(), start);
  const Rational budget = 1 + (Rational(3, 2) + moved[0] + moved[1]) / 2;
  CHECK(comparison.budget == budget);
  const reference::Law one = once(full, start);  // 3/2 tokens a move
  const reference::Law two = once(full, one);
  const Rational share = budget / Rational(3, 2) - 1;
  REQUIRE(share > 0);
  REQUIRE(share < 1);
  reference::Law mixed(3);
  for (std::size_t x = 0; x < 3; ++x) mixed[x] = one[x] + share * (two[x] - one[x]);
  CHECK(comparison.rows[1].tv == reference::total_variation(mixed, target));
  CHECK(comparison.rows[1].moves == 1);
}

// If no restart is accepted, and if each is, the weights follow.
TEST_CASE("equilibrium weights are the chances that a move changes the record") {
  const auto model = shipped("four_state");
  const reference::FixedHorizonSpace space(model, 2);
  const auto ladder = reference::parse_ladder("2", "test");
  // At equilibrium (1/6, 1/6, 2/3): position 1 changes a a and a e with 1/4 + 1/2, e with 2 · 1/8;
  // position 2 changes a a and a e with 1/2: 5/12 and 1/6.
  CHECK(lab::equilibrium_weights({space, ladder}) ==
        std::vector<Rational>{Rational(1), Rational(2, 5)});
}
