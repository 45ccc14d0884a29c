#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::compare_test {

using namespace tempera::test;

TEST_CASE("compare answers no problems, and names the command that does") {
  const std::string folder = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
  const std::string finite = TEMPERA_SOURCE_DIR "/toy_models/bimodal.json";
  const Refusal refusals[] = {
      {folder,
       "is not a finite model (NAME.json); to compare samplers on problems, use tempera "
       "eval run --task own"},
      {folder + " --problems some.jsonl",
       "--problems: is an option of tempera eval; use tempera "
       "eval run --task own"},
      {finite + " --problems some.jsonl", "--problems: is an option of tempera eval"},
      {"/nowhere", "/nowhere: is not a finite model"},
      {finite + " --other", "--other"},
      {"\"\"", "MODEL: \"\" is empty"},
      {"", "MODEL: is missing"},
  };
  for (const Refusal& refusal : refusals)
    for (const char* form : {"", " --json"})
      check_refusal("compare " + refusal.arguments + form, refusal.message);
}

}  // namespace tempera::compare_test
