#include "lab/program_law.hpp"

#include "reference/analysis/total_variation.hpp"
#include "tests/catch.hpp"

using namespace tempera;

namespace {

reference::FiniteModel shipped(const std::string& name) {
  return reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/" + name + ".json");
}

void check(const lab::ProgramReport& report) {
  CHECK(report.tv_own < lab::program_bound);
  CHECK(report.tv_answer <= report.tv_own);
  CHECK(report.tv_to_target < 1e-6);
  CHECK(report.stale_records == 0);
  CHECK(report.outcomes > 1);
}

}  // namespace

// Two stages with counts that all differ, so that none can stand for another.
TEST_CASE("whole programs of one, two and three rungs have the laws that the reference computes") {
  const auto schedule = GENERATE(gpu::Schedule::adj, gpu::Schedule::deo);
  const auto powers = GENERATE(std::vector<unsigned>{3}, std::vector<unsigned>{1, 3},
                               std::vector<unsigned>{1, 2, 4});
  CAPTURE(powers.size(), schedule == gpu::Schedule::deo);
  const gpu::Rung output = powers.size() / 2;
  check(lab::tempering_program(shipped("zero_probabilities"),
                               {2, 1, powers, {{1, 2, 3}, {2, 1, 2}}, schedule, output}));
}

TEST_CASE("the truncating sampler has the law that its definition gives, bias included") {
  const lab::ProgramQuestion question{3, 1, {2}, {{1, 2, 1}, {2, 1, 1}, {1, 1, 1}}};
  const auto model = shipped("unequal_lengths");
  check(lab::truncating_program(model, question));
  // It is another law than Algorithm 1's: a program that ran the one for the other would be seen.
  const lab::ProgramReport tempered = lab::tempering_program(model, question);
  check(tempered);
}

TEST_CASE("a law with another count, schedule or power is not the program's") {
  const auto model = shipped("zero_probabilities");
  const lab::FiniteLogits logits(model);
  const lab::ProgramQuestion asked{2, 1, {1, 3}, {{1, 2, 3}, {2, 1, 2}}, gpu::Schedule::deo, 0};
  const auto law = [&](std::vector<reference::StageSchedule> stages, unsigned power,
                       reference::Schedule schedule) {
    return reference::progressive_law(
        model, 2, 1,
        reference::Ladder({reference::Power(1), reference::Power(reference::Rational(power))}),
        stages, schedule);
  };
  const auto exact = law(asked.stages, 3, reference::Schedule::even_odd);
  const auto differs = [&](const reference::Law& other) {
    return reference::total_variation(exact, other) > reference::Rational(1, 1000);
  };
  CHECK(differs(law({{1, 1, 3}, {2, 1, 2}}, 3, reference::Schedule::even_odd)));
  CHECK(differs(law({{1, 2, 2}, {2, 1, 2}}, 3, reference::Schedule::even_odd)));
  CHECK(differs(law({{1, 2, 3}, {1, 1, 2}}, 3, reference::Schedule::even_odd)));
  CHECK(differs(law(asked.stages, 2, reference::Schedule::even_odd)));
  CHECK(differs(law(asked.stages, 3, reference::Schedule::ordered)));
}
