#include "lab/judge/shrink.hpp"

#include "base/error.hpp"
#include "lab/defects/kernel_gallery.hpp"
#include "lab/defects/small_kernels.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::lab;

TEST_CASE("laws of smaller models") {
  law("each is a model, simpler than the one that it is made from, until none is left", [] {
    auto model = reference::random::model();
    for (std::size_t steps = 0;; ++steps) {
      RC_ASSERT(steps < 1000U);
      const auto smaller = smaller_models(model);
      if (smaller.empty()) break;
      for (const auto& one : smaller) {
        RC_ASSERT(one.vocabulary_size() <= model.vocabulary_size());
        RC_ASSERT(one.listed_rows().size() <= model.listed_rows().size());
      }
      model = smaller[static_cast<std::size_t>(
          reference::random::between(0, static_cast<int>(smaller.size()) - 1))];
    }
  });
  law("a model reads back from its JSON", [] {
    const auto model = reference::random::model();
    const auto again = reference::parse_finite_model(model_json(model), "again");
    RC_ASSERT(again.vocabulary() == model.vocabulary());
    RC_ASSERT(again.listed_rows() == model.listed_rows());
    RC_ASSERT(again.default_row() == model.default_row());
    for (reference::Token v = 0; v < model.vocabulary_size(); ++v)
      RC_ASSERT(again.is_terminal(v) == model.is_terminal(v));
  });
}

// Records that never end need two tokens and one position to go wrong in when nothing is weighed.
TEST_CASE("a kernel that accepts everything fails on two records of one token") {
  SmallMove move;
  move.accept = [](KernelLottery&, const Rational&) { return true; };
  // With one token the proposal is the target; the sequence law needs two positions.
  const FailingCase smallest = shrink(kernel_of(move), small_case());
  CHECK(smallest.judged.horizon() == 2);
  CHECK(smallest.judged.model().vocabulary_size() == 2);
  CHECK(smallest.judged.size() == 3);
  CHECK_FALSE(smallest.verdict.invariant());
  CHECK(smallest.tried > 1);
}

TEST_CASE("a failure stays of its kind: what leaves the space is not shrunk to what is reducible") {
  SmallMove move;
  move.is_open = [](const JudgedCase& judged, const Tokens& record) {
    return record.size() + 1 < judged.horizon();
  };
  const FailingCase smallest = shrink(kernel_of(move), small_case());
  REQUIRE(smallest.verdict.escape);
  CHECK(smallest.judged.size() < small_case().size());
}

TEST_CASE("there is nothing to shrink of a sound kernel") {
  CHECK_THROWS_AS(shrink(kernel_of(SmallMove()), small_case()), Bug);
}

TEST_CASE("a model that the kernel refuses is no smaller failure") {
  const JudgedKernel picky = [](const JudgedCase& judged, const JudgedState& x) -> KernelRow {
    if (judged.size() < small_case().size()) throw tempera::BadInput("here", "no", "go");
    return {{x, Rational(1)}};
  };
  CHECK(shrink(picky, small_case()).judged.size() == small_case().size());
}

TEST_CASE("a failure is not taken for a simpler one of another kind") {
  // From two tokens on it leaves the space, or moves mass; on one token it stays where it is, which
  // fails too, in fewer states, but is neither.
  const auto faulty_from_two = [](const JudgedCase& judged, const JudgedState& x,
                                  const JudgedState& elsewhere) -> KernelRow {
    return {{judged.horizon() > 1 ? elsewhere : x, Rational(1)}};
  };
  const JudgedKernel leaves = [&](const JudgedCase& judged, const JudgedState& x) {
    return faulty_from_two(judged, x, {{}});
  };
  const JudgedKernel gathers = [&](const JudgedCase& judged, const JudgedState& x) {
    return faulty_from_two(judged, x, judged.state(0));
  };
  const FailingCase escaped = shrink(leaves, small_case());
  CHECK(escaped.verdict.escape);
  CHECK(escaped.judged.horizon() == 2);
  const FailingCase moved = shrink(gathers, small_case());
  CHECK(moved.verdict.stochastic());
  CHECK(moved.verdict.moved);
  CHECK(moved.judged.horizon() == 2);
}
