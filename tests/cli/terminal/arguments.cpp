#include "cli/terminal/arguments.hpp"

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using namespace tempera::test;

namespace {

const std::string four = TEMPERA_SOURCE_DIR "/toy_models/four_state.json ";

}  // namespace

TEST_CASE("what the command line holds too much, too little or misspelt is named with its remedy") {
  const Refusal refusals[] = {
      {"exact " + four + "--hrizon 2",
       "\"--hrizon\": is not an option of tempera exact; did you mean "
       "--horizon?"},
      {"exact " + four + "--zzzzzzzz",
       "\"--zzzzzzzz\": is not an option of tempera exact; see tempera"},
      {"exact " + four + "-x", "\"-x\": is not an option"},
      {"exact " + four + "--horizon", "--horizon: has no value"},
      {"exact " + four + "--horizon= --power 2", "--horizon: has no value"},
      {"exact " + four + "--horizon 2 --horizon 3", "--horizon: is given twice"},
      {"exact " + four + four, "is one argument too many"},
      {"exact --horizon 2 --power 2", "MODEL: is missing"},
      {"exact '' --horizon 2 --power 2", "MODEL: \"\" is empty"},
      {"law --json=false", "--json: takes no value"},
      {"law --json --json", "--json: is given twice"},
      {"round-trip", "--acceptance: is missing"},
      {"verify --only ''", "--only: \"\" is empty"},
      {"verify --tree ''", "--tree: \"\" is empty"},
      {"sample --temp 0.5", "give --sampler low-temperature and its power, 1/T"},
      {"sample --max-new-tokens 50",
       "\"--max-new-tokens\": is not an option of tempera sample; give --horizon T"},
      {"law --top-p 0.9", "give the finite model that --top-p is for: tempera law MODEL"},
      {"verify --temperature 1",
       "\"--temperature\": is not an option of tempera verify; see tempera"},
      {"sample --model '' a", "--model: \"\" is empty"},
      {"sample --model " + four + "--powers 1,2 5 a", "\"a\": is one argument too many"},
      {"sample --model " + four + "--powers '' a", "--powers: \"\" is not a power"},
      {"sample --model " + four + "--powers 1, a", "--powers: \"\" is not a power"},
      {"sample --model " + four + "-- -a -b", "\"-b\": is one argument too many"},
      {"score --model " + four + "\"--$(printf '\\n\\033')x\"", "\"--??x\": is not an option"},
  };
  for (const Refusal& refusal : refusals) check_refusal(refusal.arguments, refusal.message);
}

TEST_CASE("a refusal is one short line, whatever it quotes") {
  const std::string wild = "\"$(printf 'a\\nb\\033[2J\\302\\233%0100000d' 7)\"";
  for (const std::string& arguments : {wild,
                                       "help " + wild,
                                       "exact " + wild + " --horizon 2 --power 2",
                                       "exact " + four + " --horizon " + wild,
                                       "exact " + four + " --horizon 2 --power " + wild,
                                       "exact " + four + " --horizon 2 --power 2 --start " + wild,
                                       "exact " + four + " --horizon 2 --power 2 --kernel " + wild,
                                       "law " + four + " --horizon 2 --power 2 --restart " + wild,
                                       "law --tree " + wild,
                                       "verify --only " + wild,
                                       "sample --model " + four + wild,
                                       "sample --model " + wild + " a",
                                       "sample --resume " + wild,
                                       "sample --model " + four + "--prompt-file " + wild,
                                       "sample --model " + four + "a --schedule " + wild,
                                       "score --model " + four + " --text " + wild,
                                       "score --model " + four + " --tokens " + wild,
                                       "round-trip --acceptance " + wild,
                                       "compare " + wild,
                                       "law --" + wild}) {
    const CommandResult result = run_command(arguments);
    CAPTURE(arguments.substr(0, 60), result.exit_code, result.err.substr(0, 500));
    CHECK(is_refusal(result));
    CHECK(result.err.size() < 1300);
    CHECK(result.err.find('\x1B') == std::string::npos);
    CHECK(result.err.find("\xC2\x9B") == std::string::npos);
    CHECK(result.err.find("bug of tempera") == std::string::npos);
  }
}

TEST_CASE("an argument that begins with a hyphen goes after --") {
  const auto result = run_command("sample --model " + four + "--horizon 2 -- -a");
  CHECK(is_refusal(result));
  CHECK_THAT(result.err, Catch::Contains("-a") && !Catch::Contains("option"));
}
