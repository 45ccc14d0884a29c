#include "cli/terminal/progress_line.hpp"

#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/pseudo_terminal.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::progress_line_test {

using namespace tempera::test;

namespace {

const std::string worked_sum = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
const std::string sampling = "sample '4+7?' --model " + worked_sum +
                             " --powers 1,4 --horizon 28 --block 4 --rounds 2 --samples 8 --seed 1";
const std::string enumerating =
    "law " TEMPERA_SOURCE_DIR "/toy_models/four_state.json --horizon 7 --powers 1,2";

/// The widest stretch that the cursor crosses without a carriage return or newline.
std::size_t widest_stretch(const std::string& shown) {
  std::size_t widest = 0;
  std::size_t column = 0;
  for (const char c : shown) {
    column = c == '\r' || c == '\n' ? 0 : column + 1;
    widest = std::max(widest, column);
  }
  return widest;
}

/// What is left to see: each line after its carriage returns, without spaces at its end.
std::string left_standing(const std::string& shown) {
  std::istringstream lines(shown);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    std::string seen;
    std::size_t column = 0;
    for (const char c : line) {
      if (c == '\r') {
        column = 0;
        continue;
      }
      if (column == seen.size()) seen += ' ';
      seen[column++] = c;
    }
    seen.erase(seen.find_last_not_of(' ') + 1);
    result += seen + '\n';
  }
  return result;
}

}  // namespace

TEST_CASE("a terminal shows speed and acceptance; a pipe shows nothing") {
  const auto piped = run_command(sampling);
  CHECK(piped.exit_code == 0);
  CHECK(piped.err.empty());
  CHECK(piped.out.find('\r') == std::string::npos);
  auto terminal = PseudoTerminal::open(100);
  if (!terminal) return;
  const std::string shown = terminal->run("LANG=C.UTF-8", sampling);
  CHECK_THAT(shown, Catch::Contains("tokens/s") && Catch::Contains("accepted: moves"));
  // Nothing is left of it beside the answers.
  CHECK(left_standing(shown) == piped.out);
}

TEST_CASE("work in steps shows which step it is at") {
  for (const auto& [arguments, step] :
       {std::pair<std::string, std::string>{"verify --only record_law", "1 of "},
        {enumerating, "local moves of rung 1"},
        {enumerating, "its stationary law"}}) {
    auto terminal = PseudoTerminal::open(100);
    if (!terminal) return;
    CHECK_THAT(terminal->run("", arguments), Catch::Contains(step));
  }
}

TEST_CASE(
    "a program that is judged shows paths, speed, what is done of the model and what is left") {
  const TemporaryFile program(
      "import random, time, tempera.check\n"
      "def step(model, state):\n"
      "    time.sleep(0.2)\n"
      "    return random.choice([[0, 0], [0, 1], [1], [1], [1], [1]])\n"
      "tempera.check.serve(step)\n");
  const std::string check =
      "check --program 'PYTHONPATH=" TEMPERA_SOURCE_DIR "/python python3 " + program.path() +
      "' --horizon 2 --model " TEMPERA_SOURCE_DIR "/toy_models/four_state.json";
  auto terminal = PseudoTerminal::open(140);
  if (!terminal) return;
  CHECK_THAT(terminal->run("", check),
             Catch::Contains("four-state, ") && Catch::Contains(" paths, ") &&
                 Catch::Contains(" a second, ") && Catch::Contains(" % of this model, about ") &&
                 Catch::Contains(" s more for it"));
}

TEST_CASE("the progress line is narrower than the terminal, or than COLUMNS, or than 80 columns") {
  for (const auto& [columns, settings, widest] :
       {std::tuple<unsigned short, std::string, std::size_t>{40, "COLUMNS=60", 39},
        {0, "COLUMNS=30", 29},
        {0, "COLUMNS=x", 79},
        {0, "-u COLUMNS", 79}}) {
    auto terminal = PseudoTerminal::open(columns);
    if (!terminal) return;
    CAPTURE(columns, settings);
    const std::string shown = terminal->run(settings, sampling + " >/dev/null");
    CHECK_THAT(shown, Catch::Contains("tokens"));
    CHECK(widest_stretch(shown) <= widest);
  }
}

TEST_CASE("the terminal sees plain ASCII and no escape code") {
  for (const char* settings : {"LANG=C TERM=xterm", "LANG=C.UTF-8 TERM=dumb"}) {
    for (const std::string& arguments :
         {sampling, enumerating, std::string("verify --only record_law"), std::string("--help"),
          std::string("compare " TEMPERA_SOURCE_DIR "/toy_models/four_state.json --horizon 2")}) {
      auto terminal = PseudoTerminal::open(80);
      if (!terminal) return;
      const std::string shown = terminal->run(settings, arguments);
      CAPTURE(settings, arguments, shown);
      CHECK(shown.find('\x1B') == std::string::npos);
      CHECK(std::all_of(shown.begin(), shown.end(),
                        [](char c) { return c == '\r' || c == '\n' || (c >= ' ' && c < '\x7F'); }));
    }
  }
}

}  // namespace tempera::progress_line_test
