#include "lab/defects/public_steps.hpp"

#include "lab/judge/verdict.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using namespace tempera::lab;
using reference::Power;
using reference::Rational;
using reference::TokenRow;

namespace {

Rational q(int a, int b) { return Rational(a) / Rational(b); }

/// The verdict on a shipped model at power 2 and T = 2.
KernelVerdict verdict_on(const std::string& model, const JudgedKernel& kernel) {
  return judge_kernel(
      kernel, {reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/" + model + ".json"),
               2,
               {{Power(2)}, {}}});
}

const std::vector<std::string> models = {"four_state", "unequal_lengths"};

}  // namespace

TEST_CASE("steps of public samplers are sound as they are meant") {
  for (const std::string& model : models) {
    CHECK(verdict_on(model, multi_try(1, {Power(2)})).sound());
    CHECK(verdict_on(model, multi_try(2, {Power(2)})).sound());
    // Temperatures 1/4, 1/2 and 1: the powers of the proposals need not be the target's.
    CHECK(verdict_on(model, multi_try(2, {Power(4), Power(2), Power(1)})).sound());
    CHECK(verdict_on(model, prefetched_pair(PrefetchedScores::of_the_current, PrefetchedCuts::kept))
              .sound());
    CHECK(verdict_on(model,
                     pool_of_proposals(2, PoolWeights::over_proposal, PoolCuts::of_the_horizon))
              .sound());
  }
}

// The figures of docs/reference/public_samplers.md.
TEST_CASE("prefetched moves as published do not preserve the target") {
  const auto published =
      prefetched_pair(PrefetchedScores::of_the_root, PrefetchedCuts::drawn_again);
  CHECK(verdict_on("four_state", published).tv_limit == q(1, 114));
  CHECK(reference::to_string(*verdict_on("unequal_lengths", published).tv_limit) ==
        "5983145487675/8043121704546068");
  const auto root = prefetched_pair(PrefetchedScores::of_the_root, PrefetchedCuts::kept);
  CHECK(verdict_on("four_state", root).tv_limit == q(2, 111));
  const auto again = prefetched_pair(PrefetchedScores::of_the_current, PrefetchedCuts::drawn_again);
  CHECK(verdict_on("four_state", again).tv_limit == q(1, 120));
}

TEST_CASE("a pool as published weighs its records the wrong way, and its records never grow") {
  const auto weights = pool_of_proposals(2, PoolWeights::times_proposal, PoolCuts::of_the_horizon);
  CHECK(verdict_on("four_state", weights).tv_limit == q(2, 9));
  CHECK(reference::to_string(*verdict_on("unequal_lengths", weights).tv_limit) ==
        "32979745350/251565014981");
  for (const PoolWeights either : {PoolWeights::over_proposal, PoolWeights::times_proposal}) {
    const KernelVerdict verdict =
        verdict_on("four_state", pool_of_proposals(2, either, PoolCuts::of_the_record));
    REQUIRE(verdict.escape);
    CHECK(verdict.escape->from == "e");
    CHECK(verdict.escape->to == "a");
    CHECK(verdict.escape->probability == q(1, 3));
  }
}

TEST_CASE("tokens that are drawn after an answer's end lower its share") {
  // b and e with 1/2, then b; after e the model continues with either.
  const reference::FiniteModel goes_on(
      {"goes-on",
       {{"b", "e"}, "test"},
       {},
       {{{}, TokenRow{q(1, 2), q(1, 2)}}, {{0}, TokenRow{q(1, 1), q(0, 1)}}},
       TokenRow{q(1, 2), q(1, 2)}},
      "test");
  const JudgedCase judged(goes_on, 2, {{Power(2)}, {}});
  // multi_try is sound for all that is drawn, and the answer is what comes before the first e.
  CHECK(judge_kernel(multi_try(2, {Power(2)}), judged).sound());
  Rational ended = 0;
  for (std::size_t x = 0; x < judged.size(); ++x)
    if (judged.state(x).front().front() == 1) ended += judged.law()[x];
  CHECK(ended == q(1, 3));
}
