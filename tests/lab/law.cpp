#include "lab/law.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "reference/bad_input.hpp"
#include "tests/catch.hpp"

using namespace tempera;

// The two bounds of the compiled promise. 1e-6: a float32 logit errs by 2^-24 of itself, which
// moves p0(x)^α by less than 2 α T |ℓ| 2^-24 of itself, 1e-6 at α T |ℓ| = 8. 1e-11: see flow_bound.
TEST_CASE("the compiled sampler's law is within its bounds on every shipped model") {
  std::ifstream file(TEMPERA_SOURCE_DIR "/toy_models/models.json");
  const nlohmann::json models = nlohmann::json::parse(file);
  REQUIRE(models.size() >= 9);
  for (const auto& entry : models) {
    const auto name = entry.at("file").get<std::string>();
    INFO(entry.dump());
    const auto model = reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/" + name);
    const lab::FiniteLogits logits(model);
    lab::LawQuestion question{
        entry.at("horizon").get<std::size_t>(), entry.at("powers").get<std::vector<double>>(), {}};
    if (entry.contains("restart"))
      for (const auto& probability : entry.at("restart"))
        question.restart.push_back(
            reference::parse_rational(probability.get<std::string>(), "models.json"));
    const lab::LawReport report = lab::compiled_law(logits.enumerable(), &model, question);
    CHECK(report.tv_to_target < 1e-6);
    CHECK(report.tv_own < 1e-11);
    CHECK(report.tv_one_step < 1e-11);
    CHECK(report.stale_records == 0);
    REQUIRE(report.worst_entry);
    reference::Rational total = 0;
    for (const auto& probability : report.stationary) total += probability;
    CHECK(total == reference::Rational(1));
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
  CHECK_THROWS_AS(lab::compiled_law(logits.enumerable(), &model, {20, {1.0, 2.0}, {}}),
                  reference::BadInput);
  CHECK_THROWS_AS(lab::compiled_law(logits.enumerable(), &model, {0, {1.0}, {}}),
                  reference::BadInput);
}
