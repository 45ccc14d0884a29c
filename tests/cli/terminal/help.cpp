#include "cli/terminal/help.hpp"

#include <sstream>

#include "cli/terminal/columns.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using namespace tempera::test;
using tempera::cli::wrapped;

namespace {

const std::vector<std::string> commands{
    "verify",  "exact",  "round-trip", "law",   "score", "sample",  "compare", "tokens", "models",
    "presets", "ladder", "plot",       "bench", "check", "gallery", "certify", "eval"};

std::string printed(const std::string& arguments) {
  const CommandResult result = run_command(arguments);
  CAPTURE(arguments, result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  return result.out;
}

void check_fits(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(columns_of(line) <= columns);
  }
}

}  // namespace

TEST_CASE("the command alone, help and --help show the same help, of every command") {
  const std::string help = printed("");
  CHECK(printed("help") == help);
  CHECK(printed("--help") == help);
  CHECK(printed("-h") == help);
  for (const std::string& command : commands) CHECK_THAT(help, Catch::Contains("\n  " + command));
  CHECK_THAT(help, Catch::Contains("\nExamples:\n"));
  check_fits(help, 80);
}

TEST_CASE("the help of a command fits 80 columns and ends with examples") {
  for (const std::string& command : commands) {
    const std::string help = printed("help " + command);
    CAPTURE(command, help);
    CHECK(printed(command + " --help") == help);
    CHECK(printed(command + " -h") == help);
    CHECK_THAT(help, Catch::StartsWith("Usage: tempera " + command) &&
                         Catch::Contains("\nExamples:\n  tempera " + command) &&
                         !Catch::Contains("Excludes") && !Catch::Contains("Needs"));
    // A certificate is JSON and nothing else; the stages of eval have options of their own.
    if (command != "certify" && command != "eval") CHECK_THAT(help, Catch::Contains("--json"));
    check_fits(help, 80);
  }
}

TEST_CASE("help comes before what else is wrong with the arguments") {
  CHECK_THAT(printed("sample --seed x --help"), Catch::StartsWith("Usage: tempera sample"));
}

TEST_CASE("--version names version, commit, device system and instruction set") {
#if defined(TEMPERA_DEVICE_CUDA)
  const std::string device = "CUDA";
#else
  const std::string device = "C++";
#endif
  const std::string version = printed("--version");
  CHECK_THAT(version, Catch::StartsWith("tempera ") && Catch::Contains("\ncommit ") &&
                          Catch::Contains("\ndevice system   " + device + "\n") &&
                          Catch::Contains("\ninstruction set "));
  CHECK(std::count(version.begin(), version.end(), '\n') == 4);
}

TEST_CASE("a command that is none is refused, the nearest one named") {
  check_refusal("sampel", "\"sampel\": is not a command of tempera; did you mean tempera sample?");
  check_refusal("help varify", "did you mean tempera verify?");
  check_refusal("zzzzzz", "\"zzzzzz\": is not a command of tempera; tempera help lists them");
  check_refusal("--verison", "did you mean tempera --version?");
  check_refusal("help law law", "\"law\": is one argument too many");
  check_refusal("''", "\"\": is not a command");
}

TEST_CASE("text is wrapped at spaces and no word is lost") {
  CHECK(wrapped("one two three", 7, 0) == "one two\nthree");
  CHECK(wrapped("one two three", 9, 2) == "one two\n  three");
  CHECK(wrapped("unbreakable", 4, 0) == "unbreakable");
  CHECK(wrapped("a\nb", 9, 1) == "a\n b");
  CHECK(wrapped("", 9, 1).empty());
  CHECK(wrapped("\xCE\xB1\xCE\xB1 \xCE\xB1\xCE\xB1", 5, 0) == "\xCE\xB1\xCE\xB1 \xCE\xB1\xCE\xB1");
}
