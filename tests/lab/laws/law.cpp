#include "lab/laws/law.hpp"

#include "base/error.hpp"
#include "reference/numbers/common_denominator.hpp"
#include "tests/catch.hpp"

using namespace tempera;

// The bounds are derived in lab/laws/shipped_laws.hpp.
TEST_CASE("the stationary law is a law, and the matrix is the reference's but for rounding") {
  const auto model =
      reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/zero_probabilities.json");
  const lab::FiniteLogits logits(model);
  const lab::LawReport report = lab::compiled_law(logits.enumerable(), &model, {3, {1.0, 3.0}, {}});
  reference::Rational total = 0;
  for (const auto& probability : report.stationary) total += probability;
  CHECK(total == reference::Rational(1));
  REQUIRE(report.worst_entry);
  CHECK(*report.worst_entry < 1e-6);
  CHECK(report.stale_records == 0);
}

// Three rungs, so that the odd layer and the even one are different edges.
TEST_CASE("a step of the even-odd schedule is the reference's but for rounding") {
  const auto model = reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/deep_chain.json");
  const lab::FiniteLogits logits(model);
  const lab::LawQuestion deo{2, {1.0, 2.0, 4.0}, {}, gpu::Schedule::deo};
  const lab::LawReport report = lab::compiled_law(logits.enumerable(), &model, deo);
  REQUIRE(report.worst_entry);
  CHECK(*report.worst_entry < 1e-6);
  CHECK(report.tv_own < 1e-11);
  CHECK(report.tv_one_step < 1e-11);
  const lab::LawReport adj =
      lab::compiled_law(logits.enumerable(), &model, {2, {1.0, 2.0, 4.0}, {}});
  CHECK(*adj.worst_entry < 1e-6);
  CHECK_FALSE(adj.matrix == report.matrix);
}

// πP = π over one denominator, in every seventh column.
TEST_CASE("a ladder of hundreds of joint states has its exact stationary law") {
  const auto model = reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/four_state.json");
  const lab::FiniteLogits logits(model);
  const lab::LawReport report =
      lab::compiled_law(logits.enumerable(), nullptr, {16, {1.0, 2.0}, {}});
  REQUIRE(report.states.size() == 289);
  CHECK(report.tv_own < 1e-11);
  const auto law = reference::over_common_denominator(report.stationary);
  reference::Integer total = 0;
  for (const auto& mass : law.numerators) total += mass;
  CHECK(total == law.denominator);
  for (std::size_t y = 0; y < 289; y += 7) {
    std::vector<reference::Rational> column;
    for (std::size_t x = 0; x < 289; ++x) column.push_back(report.matrix(x, y));
    const auto into = reference::over_common_denominator(column);
    reference::Integer inflow = 0;
    for (std::size_t x = 0; x < 289; ++x)
      reference::add_product(inflow, law.numerators[x], into.numerators[x]);
    CHECK(inflow == law.numerators[y] * into.denominator);
  }
}

TEST_CASE("powers need not be integers") {
  const auto model = reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/ties.json");
  const lab::FiniteLogits logits(model);
  const lab::LawReport report = lab::compiled_law(logits.enumerable(), &model, {3, {0.5, 1.7}, {}});
  CHECK(report.tv_to_target < 1e-6);
  CHECK(report.tv_own < 1e-11);
  CHECK_FALSE(report.worst_entry);
}

TEST_CASE("a law that is too large, or a horizon of 0, is refused") {
  const auto model = reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/four_state.json");
  const lab::FiniteLogits logits(model);
  CHECK_THROWS_AS(lab::compiled_law(logits.enumerable(), &model, {40, {1.0, 2.0}, {}}),
                  tempera::BadInput);
  CHECK_THROWS_AS(lab::compiled_law(logits.enumerable(), &model, {0, {1.0}, {}}),
                  tempera::BadInput);
}
