#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera::test;

namespace {

const std::string model = "--model " TEMPERA_SOURCE_DIR "/toy_models/geometric_length.json ";

struct Prompts {
  TemporaryFile file{"{\"id\": \"one\", \"prompt\": \"\"}\n"};
  std::string option() const { return "--prompts " + file.path() + " "; }
};

}  // namespace

TEST_CASE("ladder prints the acceptances before and after, as a table and as JSON") {
  const Prompts prompts;
  const std::string asked = "ladder " + model + prompts.option() +
                            "--from 0.5 --to 4 --replicas 4 --horizon 12 --samples 8 --rounds 30 "
                            "--pilots 3 --seed 2 ";
  const auto printed = run_command(asked + "--json");
  CAPTURE(printed.err);
  REQUIRE(printed.exit_code == 0);
  CHECK(printed.err.empty());
  const json report = json::parse(printed.out);
  CHECK(report["pilots"].size() <= 3);
  CHECK(report["before"] == report["pilots"][0]);
  CHECK(report["powers"] == report["after"]["powers"]);
  CHECK(report["powers"].front() == 0.5);
  CHECK(report["powers"].back() == 4.0);
  const auto lowest = [](const json& pilot) {
    double least = 1.0;
    for (const json& a : pilot["acceptances"]) least = std::min(least, a.get<double>());
    return least;
  };
  for (const json& pilot : report["pilots"]) {
    CHECK(lowest(pilot) <= lowest(report["after"]));
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(pilot["acceptances"][k] ==
            pilot["accepted"][k].get<double>() / pilot["attempts"][k].get<double>());
  }
  const auto table = run_command(asked);
  REQUIRE(table.exit_code == 0);
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  std::string powers;
  for (const json& power : report["powers"])
    powers += (powers.empty() ? "--powers " : ",") + (power == 0.5   ? "0.5"
                                                      : power == 4.0 ? "4"
                                                                     : power.dump());
  CHECK_THAT(table.out, Catch::Contains(powers + "\n"));
  CHECK(run_command(asked).out == table.out);
}

TEST_CASE("ladder refuses what makes no ladder, in one line") {
  const Prompts prompts;
  const std::string base = "ladder " + model + prompts.option();
  check_refusal(base + "--from 2 --to 2 --replicas 3", "to: is not above from");
  check_refusal(base + "--from 1 --to 2", "--replicas: is missing");
  check_refusal(base + "--from 1 --to 2 --replicas 1", "--replicas");
  check_refusal(base + "--from 1 --to 2 --replicas 3 --pilots 256", "--pilots");
  check_refusal(base + "--from 1 --to 2 --replicas 3 --rounds 1", "--rounds");
  check_refusal("ladder " + model + "--from 1 --to 2 --replicas 3", "--prompts: is missing");
  check_refusal("ladder " + prompts.option() + "--from 1 --to 2 --replicas 3", "--model");
}
