#include "lab/laws/program_law.hpp"

#include "reference/analysis/total_variation.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;

namespace {

void check(const lab::ProgramReport& report) {
  CHECK(report.tv_own < lab::program_bound);
  CHECK(report.tv_answer <= report.tv_own);
  CHECK(report.tv_to_target < 1e-6);
  CHECK(report.stale_records == 0);
  CHECK(report.outcomes > 1);
}

}  // namespace

// Two stages with counts that all differ, so that none can stand for another. The first ends at two
// tokens: at one, extension alone is the target, and no count could be seen.
TEST_CASE("whole programs of one, two and three rungs have the laws that the reference computes") {
  const auto schedule = GENERATE(gpu::Schedule::adj, gpu::Schedule::deo);
  const auto [name, powers] =
      GENERATE(table<std::string, std::vector<unsigned>>({{"zero_probabilities", {3}},
                                                          {"zero_probabilities", {1, 3}},
                                                          {"geometric_length", {1, 2, 4}}}));
  CAPTURE(name, powers.size(), schedule == gpu::Schedule::deo);
  const gpu::Rung output = powers.size() / 2;
  check(lab::tempering_program(shipped(name),
                               {3, 2, powers, {{1, 2, 3}, {2, 1, 2}}, schedule, output}));
}

// Logarithms of these probabilities are no float32s: the law is off its rational target by about
// their rounding, 2^-24, and off its own target by that of doubles alone.
TEST_CASE("the distance to the rational target is not the one to the float32 logits' own") {
  const lab::ProgramReport report =
      lab::tempering_program(shipped("zero_probabilities"), {3, 2, {3}, {{1, 1, 1}, {1, 1, 1}}});
  check(report);
  CHECK(report.tv_to_target > lab::program_bound);
  CHECK(report.tv_to_target > 1000 * report.tv_own);
}

TEST_CASE("the truncating sampler has the law that its definition gives, bias included") {
  const lab::ProgramQuestion question{3, 1, {2}, {{1, 2, 1}, {2, 1, 1}, {1, 1, 1}}};
  const auto model = shipped("unequal_lengths");
  check(lab::truncating_program(model, question));
  // It is another law than Algorithm 1's: a program that ran the one for the other would be seen.
  const lab::ProgramReport tempered = lab::tempering_program(model, question);
  check(tempered);
}

// A stage of horizon 1 would not do: there g is the target, and no count changes anything. A
// program's law is within 1e-6 of the right one (target_bound), so a difference above 1e-5 is seen.
TEST_CASE("a law with another count, schedule or power is not the program's") {
  const auto model = shipped("zero_probabilities");
  const std::vector<reference::StageSchedule> stages{{1, 2, 3}, {2, 1, 2}};
  const auto law = [&](std::vector<reference::StageSchedule> counts, unsigned power,
                       reference::Schedule schedule) {
    return reference::progressive_law(
        model, 3, 2,
        reference::Ladder({reference::Power(1), reference::Power(reference::Rational(power))}),
        counts, schedule);
  };
  const auto exact = law(stages, 3, reference::Schedule::deo);
  const auto differs = [&](const reference::Law& other) {
    return reference::total_variation(exact, other) > reference::Rational(1, 100000);
  };
  CHECK(differs(law({{1, 1, 3}, {2, 1, 2}}, 3, reference::Schedule::deo)));
  CHECK(differs(law({{1, 2, 2}, {2, 1, 2}}, 3, reference::Schedule::deo)));
  CHECK(differs(law({{1, 2, 3}, {1, 1, 2}}, 3, reference::Schedule::deo)));
  CHECK(differs(law(stages, 2, reference::Schedule::deo)));
  CHECK(differs(law(stages, 3, reference::Schedule::adj)));
}
