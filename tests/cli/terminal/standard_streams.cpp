#include "cli/terminal/standard_streams.hpp"

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::standard_streams_test {

using namespace tempera::test;

namespace {

const std::string toy_models = TEMPERA_SOURCE_DIR "/toy_models/";

/// Every form of every command that prints.
const std::vector<std::string> printing{
    "",
    "help sample",
    "--version",
    "exact " + toy_models + "four_state.json --horizon 2 --power 2",
    "exact " + toy_models + "four_state.json --horizon 2 --powers 1,2 --json",
    "round-trip --acceptance 1/2",
    "round-trip --acceptance 1/2 --json",
    "law " + toy_models + "four_state.json --horizon 2 --power 2",
    "law " + toy_models + "four_state.json --horizon 2 --power 2 --json",
    "score --model " + toy_models + "four_state.json --text 'a e'",
    "score --model " + toy_models + "four_state.json --text 'a e' --json",
    "sample a --model " + toy_models + "four_state.json --horizon 2 --samples 40 --summary",
    "sample a --model " + toy_models + "four_state.json --horizon 2 --json",
    "compare " + toy_models + "four_state.json --horizon 2",
    "compare " + toy_models + "four_state.json --horizon 2 --json",
    "verify --only tv_at_two",
    "verify --only tv_at_two --json",
};

}  // namespace

TEST_CASE("output that cannot be written is one line and exit code 2, in every command") {
  const TemporaryFolder tree;
  std::filesystem::create_directories(tree / "toy_models");
  std::filesystem::copy_file(toy_models + "four_state.json", tree / "toy_models/four_state.json");
  std::ofstream(tree / "toy_models/models.json")
      << R"([{"file": "four_state.json", "horizon": 2, "power": 2, "powers": [2]}])";
  std::vector<std::string> forms = printing;
  for (const char* form : {"", " --json"})
    forms.push_back("law --tree " + (tree / ".").string() + form);
  for (const std::string& arguments : forms) {
    for (const char* target : {"/dev/full", "&-"}) {
      const CommandResult result = run_command_to(target, arguments);
      CAPTURE(arguments, target, result.exit_code, result.err);
      CHECK(is_refusal(result));
      CHECK_THAT(result.err, Catch::Contains("standard output: cannot be written"));
    }
  }
}

// Without care the first file that is opened would take the number of the closed stream, and the
// answers would go into it.
TEST_CASE("a closed standard output puts no answer into the run folder's files") {
  const TemporaryFolder folder;
  const std::string sampling =
      "sample a --model " + toy_models + "four_state.json --horizon 2 --samples 9 --out ";
  REQUIRE(run_command(sampling + (folder / "whole").string()).exit_code == 0);
  const CommandResult closed = run_command_to("&-", sampling + (folder / "closed").string());
  CHECK(closed.exit_code == 2);
  for (const auto& file : std::filesystem::directory_iterator(folder / "whole")) {
    CAPTURE(file.path());
    if (file.path().filename() == "speed.json") continue;  // times
    CHECK(bytes_of(file.path().string()) ==
          bytes_of((folder / "closed" / file.path().filename()).string()));
  }
}

TEST_CASE("a closed standard input gives no prompt") {
  const TemporaryFile out(""), err("");
  const std::string line = std::string(TEMPERA_BINARY) + " sample --model " + toy_models +
                           "worked_sum <&- >" + out.path() + " 2>" + err.path();
  CHECK(WEXITSTATUS(std::system(line.c_str())) == 2);
  CHECK(bytes_of(out.path()).empty());
}

}  // namespace tempera::standard_streams_test
