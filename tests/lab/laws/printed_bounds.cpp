// A bound that is printed is a bound, and the one that its definition says: each is computed anew
// from the compiled matrices, and compared with what it bounds, on ladders whose rungs differ.
#include <algorithm>

#include "lab/laws/one_step_law.hpp"
#include "lab/laws/question_kernels.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::printed_bounds_test {

using namespace lab;
using lab::Rational;

namespace {

/// Σ_y min_x L(x, y).
Rational common_mass(const Matrix& kernel) {
  Rational sum = 0;
  for (std::size_t y = 0; y < kernel.columns(); ++y) {
    Rational least = 1;
    for (std::size_t x = 0; x < kernel.rows(); ++x) least = std::min(least, kernel(x, y));
    sum += least;
  }
  return sum;
}

/// The largest TV between two rows: what a step leaves of the distance of two laws, at most.
Rational largest_contraction(const Matrix& step) {
  Rational largest = 0;
  for (std::size_t x = 0; x < step.rows(); ++x)
    for (std::size_t other = 0; other < x; ++other) {
      Rational twice = 0;
      for (std::size_t y = 0; y < step.columns(); ++y)
        twice += abs(Rational(step(x, y) - step(other, y)));
      largest = std::max(largest, Rational(twice / 2));
    }
  return largest;
}

struct Asked {
  std::string model;
  std::size_t horizon;
  std::vector<double> powers;
  gpu::Schedule schedule = gpu::Schedule::adj;
  std::vector<Rational> restart = {};
  gpu::RestartRange range = gpu::RestartRange::horizon;
};

/// Two 50-digit numbers that are one, computed in another order.
bool are_one(const Real& a, const Real& b) { return abs(a - b) < Real("1e-45"); }

}  // namespace

TEST_CASE("the minorization of every ladder is the product of its rungs', and bounds the step") {
  const Asked asked = GENERATE(
      Asked{"four_tokens", 2, {3.0}}, Asked{"unequal_lengths", 3, {1.0, 4.0}},
      Asked{"bimodal", 4, {1.0, 4.0}}, Asked{"bimodal", 4, {4.0}},
      Asked{"late_payoff", 3, {1.0, 5.0}, gpu::Schedule::deo},
      Asked{"four_state", 2, {1.0, 2.0, 6.0}},
      Asked{"four_state", 2, {1.0, 2.0, 6.0}, gpu::Schedule::deo},
      Asked{
          "several_terminals", 2, {1.0, 3.0}, gpu::Schedule::adj, {Rational(1, 5), Rational(4, 5)}},
      Asked{"four_state", 2, {1.0, 5.0}, gpu::Schedule::adj, {}, gpu::RestartRange::record});
  CAPTURE(asked.model, asked.powers);
  const FiniteLogits logits(shipped(asked.model));
  const EnumerableModel model = logits.enumerable();
  LawQuestion question{asked.horizon, asked.powers, asked.restart, asked.schedule};
  question.restart_range = asked.range;
  const OneStepReport one = one_step_law(model, question);
  const LawReport whole = compiled_law(model, nullptr, question);

  const CompiledSpace space(model, asked.horizon);
  const gpu::Ladder ladder(asked.powers);
  QuestionKernels kernel(space, ladder, question);
  Rational product = 1;
  std::vector<Rational> rungs;
  for (gpu::Rung k = 0; k < ladder.rungs(); ++k) {
    rungs.push_back(common_mass(kernel.local_move(k)));
    product *= rungs.back();
  }
  CHECK(are_one(one.minorization, to_real(product)));
  // Not that of any one rung: these differ, and each is below 1.
  for (const Rational& rung : rungs) CHECK(rung < 1);
  if (rungs.size() > 1) CHECK(rungs.front() != rungs.back());
  CHECK(to_real(largest_contraction(whole.matrix)) <= 1 - one.minorization + Real("1e-45"));

  CHECK(are_one(one.tv_one_step, whole.tv_one_step));
  REQUIRE(one.tv_own_at_most);
  CHECK(are_one(*one.tv_own_at_most, one.tv_one_step / to_real(product)));
  CHECK(whole.tv_own <= *one.tv_own_at_most);
}

TEST_CASE("a minorization of 0 bounds nothing") {
  const FiniteLogits logits(shipped("unequal_lengths"));
  // The first position is never restarted from, so no record is reached from all.
  const LawQuestion question{2, {1.0, 2.0}, {Rational(0), Rational(1)}};
  const OneStepReport one = one_step_law(logits.enumerable(), question);
  CHECK(one.minorization == 0);
  CHECK_FALSE(one.tv_own_at_most);
}

}  // namespace tempera::printed_bounds_test
