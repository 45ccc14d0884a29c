#include <clocale>
#include <cstdlib>
#include <iostream>
#include <regex>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using namespace tempera;
using namespace tempera::test;

namespace {

/// What the command prints under this locale, without the seconds that it took.
std::string printed(const std::string& locale, const std::string& arguments) {
  setenv("LC_ALL", locale.c_str(), 1);
  const CommandResult result = run_command(arguments);
  unsetenv("LC_ALL");
  CAPTURE(locale, arguments, result.err);
  REQUIRE(result.exit_code == 0);
  return std::regex_replace(result.out, std::regex("\"seconds\":[^,}]*"), "");
}

/// Locales that write 0,5, or nothing if this machine has none.
std::string locale_with_commas() {
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "fr_FR"}) {
    const bool is_there = std::setlocale(LC_ALL, name) != nullptr;
    const bool has_comma = is_there && std::string(std::localeconv()->decimal_point) == ",";
    std::setlocale(LC_ALL, "C");
    if (has_comma) return name;
  }
  return "";
}

}  // namespace

TEST_CASE("JSON is the same under every locale") {
  std::vector<std::string> locales{"C.UTF-8", "POSIX"};
  if (const std::string commas = locale_with_commas(); !commas.empty())
    locales.push_back(commas);
  else
    std::cout << "SKIPPED: JSON under a locale with decimal commas: none is installed\n";
  const std::string toy_models = TEMPERA_SOURCE_DIR "/toy_models/";
  const std::string four = toy_models + "four_state.json ";
  for (const std::string& arguments :
       {"exact " + four + "--horizon 2 --power 2 --json",
        std::string("round-trip --acceptance 0.5,1/3 --json"),
        "law " + four + "--horizon 2 --power 1.5 --json",
        "score --model " + four + "--text 'a e' --powers 1,2.5 --json",
        "sample a --model " + four + "--horizon 2 --powers 0.5,1.5 --json",
        "compare " + toy_models + "four_state.json --horizon 2 --json",
        std::string("verify --only tv_at_two --json")}) {
    const std::string expected = printed("C", arguments);
    for (const std::string& locale : locales) CHECK(printed(locale, arguments) == expected);
  }
}
