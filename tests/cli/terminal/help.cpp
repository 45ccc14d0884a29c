#include "cli/terminal/help.hpp"

#include <fstream>
#include <map>
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

// A row of packages.txt that a program is made with, and the name by which its licence is listed.
TEST_CASE(
    "--version --licences has a notice for each library, and the whole text of each licence") {
  const std::map<std::string, std::string> names{
      {"libboost-dev", "Boost"},       {"libgmp-dev", "GMP"},
      {"libmpfr-dev", "MPFR"},         {"nlohmann-json3-dev", "nlohmann/json"},
      {"libcli11-dev", "CLI11"},       {"libthrust-dev", "Thrust"},
      {"libcub-dev", "CUB"},           {"libpcre2-dev", "PCRE2"},
      {"libutf8proc-dev", "utf8proc"}, {"nanobind", "nanobind"}};
  const std::string text = printed("--version --licences");
  std::ifstream packages(TEMPERA_SOURCE_DIR "/packages.txt");
  std::size_t libraries = 0;
  for (std::string line; std::getline(packages, line);) {
    std::istringstream row(line);
    std::string who, source, name;
    row >> who >> source >> name;
    const bool is_library =
        (who == "run" && (name.ends_with("-dev") || name.starts_with("lib"))) || name == "nanobind";
    if (!is_library) continue;
    CAPTURE(name);
    ++libraries;
    REQUIRE(names.contains(name));
    CHECK_THAT(text, Catch::Contains("\n" + names.at(name) + "\n  in         "));
  }
  CHECK(libraries == names.size());
  // Each licence that a notice names is there: by its first words, and by its last ones.
  for (const char* words :
       {"Permission is hereby granted, free of charge, to any person obtaining a copy of\nthis",
        "Neither the name of the copyright holder", "Redistributions of source code must retain",
        "Boost Software License - Version 1.0", "Unicode data files", "Apache License",
        "limitations under the License.", "GNU LESSER GENERAL PUBLIC LICENSE",
        "TERMS AND CONDITIONS", "<https://www.gnu.org/licenses/why-not-lgpl.html>"})
    CHECK_THAT(text, Catch::Contains(words));
  check_refusal("--version --licences all", "\"all\": is one argument too many");
  check_refusal("--version --licenses", "\"--licenses\": is one argument too many");
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
