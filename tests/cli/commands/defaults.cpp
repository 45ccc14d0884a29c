// A default is written once, in settings/defaults.hpp: what is left out means that, and help
// texts say that.
#include "settings/defaults.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "gpu/core/sampler/ladder.hpp"
#include "tempera/check.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::defaults_test {

using namespace tempera::test;
namespace defaults = tempera::gpu::defaults;

namespace {

const std::string toy = TEMPERA_SOURCE_DIR "/toy_models/";

/// What the help of a command says of an option, its lines joined.
std::string help_of(const std::string& command, const std::string& flag) {
  const auto printed = run_command(command + " --help");
  REQUIRE(printed.exit_code == 0);
  const std::string text = std::regex_replace(printed.out, std::regex("\\s+"), " ");
  const std::size_t begin = text.find(" " + flag + " ");
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find(" --", begin + 1) - begin);
}

std::string said(std::uint64_t value) { return "(default: " + std::to_string(value); }

/// That a command without options prints what it prints with them.
void same_with(const std::string& command, const std::string& options) {
  const auto bare = run_command(command);
  CAPTURE(command, options, bare.err);
  REQUIRE(bare.exit_code == 0);
  CHECK(bare.out == run_command(command + options).out);
}

std::string given(const std::string& flag, std::uint64_t value) {
  return " " + flag + " " + std::to_string(value);
}

}  // namespace

TEST_CASE("help says the default that is declared") {
  for (const char* command : {"sample", "chat"}) {
    CAPTURE(command);
    CHECK(Catch::Contains(said(defaults::horizon)).match(help_of(command, "--horizon")));
    CHECK(Catch::Contains(said(defaults::rounds)).match(help_of(command, "--rounds")));
    CHECK(Catch::Contains(said(defaults::local_moves)).match(help_of(command, "--local-moves")));
    CHECK(Catch::Contains(said(defaults::sweeps)).match(help_of(command, "--sweeps")));
    CHECK(Catch::Contains(said(defaults::particles)).match(help_of(command, "--particles")));
  }
  CHECK(Catch::Contains(said(defaults::samples)).match(help_of("sample", "--samples")));
  for (const char* command : {"law", "compare", "check"}) {
    CAPTURE(command);
    CHECK(Catch::Contains(said(defaults::exact_rounds)).match(help_of(command, "--rounds")));
    CHECK(Catch::Contains(said(defaults::local_moves)).match(help_of(command, "--local-moves")));
    CHECK(Catch::Contains(said(defaults::sweeps)).match(help_of(command, "--sweeps")));
  }
  CHECK(Catch::Contains(said(defaults::horizon)).match(help_of("ladder", "--horizon")));
  CHECK(Catch::Contains(said(defaults::pilot_rounds)).match(help_of("ladder", "--rounds")));
  CHECK(Catch::Contains(said(defaults::samples)).match(help_of("ladder", "--samples")));
  CHECK(Catch::Contains(said(defaults::pilots)).match(help_of("ladder", "--pilots")));
}

TEST_CASE("what is left out means the default that is declared") {
  const std::string counts =
      given("--local-moves", defaults::local_moves) + given("--sweeps", defaults::sweeps);
  same_with("sample --json --model " + toy + "four_state.json ''",
            given("--horizon", defaults::horizon) + given("--rounds", defaults::rounds) +
                given("--block", defaults::block(defaults::horizon)) +
                given("--samples", defaults::samples) + given("--seed", defaults::seed) +
                " --powers 1,2,4 --schedule adj" + counts);
  same_with("law --json " + toy + "four_state.json --sampler ppt --horizon 2 --powers 1,2",
            given("--block", defaults::block(2)) + given("--rounds", defaults::exact_rounds) +
                " --schedule adj --output-rung 2" + counts);
  same_with("compare --json " + toy + "four_state.json --horizon 2",
            given("--block", defaults::exact_block(2)) + given("--rounds", defaults::exact_rounds) +
                " --powers 1,2,4" + counts);
  const TemporaryFile prompts{"{\"id\": \"one\", \"prompt\": \"\"}\n"};
  same_with("ladder --json --model " + toy + "geometric_length.json --prompts " + prompts.path() +
                " --from 1 --to 2 --replicas 2",
            given("--horizon", defaults::horizon) +
                given("--block", defaults::block(defaults::horizon)) +
                given("--rounds", defaults::pilot_rounds) + given("--samples", defaults::samples) +
                given("--pilots", defaults::pilots) + given("--seed", defaults::seed));
}

TEST_CASE("the public API's algorithm has the defaults of law --sampler") {
  const check::Algorithm open;
  CHECK(open.rounds == defaults::exact_rounds);
  CHECK(open.local_moves == defaults::local_moves);
  CHECK(open.sweeps == defaults::sweeps);
}

TEST_CASE("no command writes a default of its own into a help text") {
  const std::regex literal("default: \"?\\s*\"?[0-9]");
  CHECK(std::regex_search("\"Rounds (default: 4)\"", literal));
  CHECK(std::regex_search("\"Rounds (default: \"\n  \"4)\"", literal));
  std::size_t files = 0;
  for (const char* folder : {"cli/commands", "cli/terminal"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TEMPERA_SOURCE_DIR "/") + folder)) {
      if (entry.path().extension() != ".cpp") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      CAPTURE(entry.path().string());
      CHECK_FALSE(std::regex_search(text, literal));
      ++files;
    }
  }
  CHECK(files > 40);
}

}  // namespace tempera::defaults_test
