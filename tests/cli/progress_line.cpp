#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using namespace tempera::test;

namespace {

const std::string worked_sum = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
const std::string sampling = "sample '4+7?' --model " + worked_sum +
                             " --powers 1,4 --horizon 28 --block 4 --rounds 2 --samples 8 --seed 1";

/// What the command writes where both of its streams are a terminal.
std::string on_a_terminal(const std::string& arguments) {
  const TemporaryFile out("");
  const std::string line = "script -qec \"" + std::string(TEMPERA_BINARY) + " " + arguments +
                           "\" /dev/null >" + out.path() + " </dev/null";
  REQUIRE(std::system(line.c_str()) == 0);
  return bytes_of(out.path());
}

}  // namespace

TEST_CASE("a terminal shows speed, acceptance and time left; a pipe shows nothing") {
  const std::string shown = on_a_terminal(sampling);
  CHECK_THAT(shown, Catch::Contains("tokens/s") && Catch::Contains("accepted: moves") &&
                        Catch::Contains("s left"));
  const auto piped = run_command(sampling);
  CHECK(piped.exit_code == 0);
  CHECK(piped.err.empty());
  CHECK(piped.out.find('\r') == std::string::npos);
}

TEST_CASE("work in steps shows which step it is at, and a comparison its sampler and speed") {
  CHECK_THAT(on_a_terminal("verify --only record_law"), Catch::Contains("1 of "));
  CHECK_THAT(on_a_terminal("compare " + worked_sum + " --most 2"),
             Catch::Contains("PPT, K = 4  ") && Catch::Contains("tokens/s"));
}
