#include "lab/laws/shipped_programs.hpp"

#include "lab/laws/shipped_laws.hpp"
#include "tests/catch.hpp"

using namespace tempera;

TEST_CASE("a program that is out of one bound, or leaves a stale record, does not hold") {
  lab::ShippedProgram sound;
  sound.report.tv_own = lab::program_bound / 2;
  sound.report.tv_answer = sound.report.tv_own;
  sound.report.tv_to_target = lab::target_bound / 2;
  CHECK(sound.holds());
  lab::ShippedProgram program = sound;
  program.report.tv_own = lab::program_bound;
  CHECK_FALSE(program.holds());
  program = sound;
  program.report.tv_to_target = lab::target_bound;
  CHECK_FALSE(program.holds());
  program = sound;
  program.report.stale_records = 1;
  CHECK_FALSE(program.holds());
}
