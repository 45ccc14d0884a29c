#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::ladder_test {

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
                            "--from 0.5 --to 4 --replicas 4 --horizon 12 --block 12 --samples 8 "
                            "--rounds 30 "
                            "--pilots 3 --seed 2 ";
  const auto printed = run_command(asked + "--json");
  CAPTURE(printed.err);
  REQUIRE(printed.exit_code == 0);
  CHECK(printed.err.empty());
  const json report = json::parse(printed.out);
  CHECK(report["pilots"].size() <= 3);
  CHECK(report["before"] == report["pilots"][0]);
  CHECK(report["powers"] == report["after"]["powers"]);
  // There are 12 positions in ten parts; 30 rounds, of which the second half counts, 8 runs, 4
  // rungs.
  const json& best = report["after"];
  std::size_t restarts = 0, changes = 0;
  double largest = 0.0;
  for (std::size_t part = 0; part < 10; ++part) {
    restarts += best["restarts"][part].get<std::size_t>();
    changes += best["changes"][part].get<std::size_t>();
    largest = std::max(largest,
                       best["changes"][part].get<double>() / best["restarts"][part].get<double>());
  }
  CHECK(restarts == 15 * 8 * 4);
  CHECK(changes > 0);
  CHECK(changes < restarts);
  REQUIRE(report["restart_weights"].size() == 10);
  for (std::size_t part = 0; part < 10; ++part) {
    const double share = best["changes"][part].get<double>() / best["restarts"][part].get<double>();
    CHECK(report["restart_weights"][part] == std::max(1.0, std::round(64.0 * share / largest)));
  }
  CHECK(report["restart_weights"] != json(std::vector<int>(10, 64)));
  CHECK_FALSE(report.contains("schedules"));
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
  CHECK_THAT(table.out, Catch::Contains(powers + "\n--restart-weights "));
  CHECK(run_command(asked).out == table.out);
  CHECK(run_command(asked + "--threads 1").out == table.out);
}

TEST_CASE("sample takes the restart weights that ladder suggests for it") {
  const Prompts prompts;
  for (const std::string layout : {"--horizon 24 --block 6 ", "--horizon 24 ", "--horizon 7 "}) {
    CAPTURE(layout);
    const auto printed = run_command("ladder " + model + prompts.option() + layout +
                                     "--from 1 --to 3 --replicas 3 --rounds 6 --json");
    REQUIRE(printed.exit_code == 0);
    const json report = json::parse(printed.out);
    std::string weights;
    for (const json& weight : report["restart_weights"])
      weights += (weights.empty() ? "" : ",") + weight.dump();
    const auto sampled = run_command("sample " + model + layout +
                                     "--powers 1,2,3 --rounds 1 --restart-weights " + weights);
    CAPTURE(weights, sampled.err);
    CHECK(sampled.exit_code == 0);
  }
}

TEST_CASE("ladder says whether the acceptances are equal in the end") {
  const Prompts prompts;
  const std::string uneven = "ladder " + model + prompts.option() +
                             "--from 0.02 --to 4 --replicas 3 --horizon 12 --rounds 40 --pilots ";
  const auto told = [](const std::string& asked) {
    const auto table = run_command(asked);
    CAPTURE(table.err);
    CHECK(table.exit_code == 0);
    const auto begin = table.out.find("\nacceptances: ") + 1;
    return std::pair(table.out.substr(begin, table.out.find('\n', begin) - begin),
                     json::parse(run_command(asked + " --json").out)["acceptances_equal"]);
  };
  CHECK(told(uneven + "1 --samples 40") ==
        std::pair<std::string, json>(
            "acceptances: still unequal, by more than the noise of 40 runs", false));
  CHECK(told(uneven + "6 --samples 8") ==
        std::pair<std::string, json>("acceptances: equal as far as the noise of 8 runs can tell",
                                     true));
  CHECK(told(uneven + "1") ==
        std::pair<std::string, json>(
            "acceptances: one run shows no noise to tell by; give --samples 2 or more", nullptr));
  CHECK(told("ladder " + model + prompts.option() + "--from 1 --to 2 --replicas 2 --horizon 4") ==
        std::pair<std::string, json>("acceptances: there is but one", true));
}

TEST_CASE("ladder times both schedules where it is asked to, and changes nothing else") {
  const Prompts prompts;
  const std::string asked = "ladder " + model + prompts.option() +
                            "--from 0.5 --to 4 --replicas 3 --horizon 6 --samples 4 --pilots 1 ";
  const json plain = json::parse(run_command(asked + "--json").out);
  json timed = json::parse(run_command(asked + "--time-schedules --json").out);
  for (const char* name : {"adj", "deo"}) {
    const json& measured = timed["schedules"][name];
    CHECK(measured["seconds"] > 0.0);
    double delay = 0.0;
    for (std::size_t k = 0; k < 2; ++k)
      delay += (measured["attempts"][k].get<double>() - measured["accepted"][k].get<double>()) /
               measured["accepted"][k].get<double>();
    const double trip = (name == std::string("deo") ? 6.0 : 3.0) * (1.0 + delay);
    CHECK(measured["round_trips_per_second"].get<double>() ==
          Approx(1.0 / (trip * measured["seconds"].get<double>())));
  }
  // A layer attempts every other edge: half as many swaps of each.
  CHECK(timed["schedules"]["adj"]["attempts"] == json({80, 80}));
  CHECK(timed["schedules"]["deo"]["attempts"] == json({40, 40}));
  const bool adj = timed["schedules"]["adj"]["round_trips_per_second"] >=
                   timed["schedules"]["deo"]["round_trips_per_second"];
  CHECK(timed["schedule"] == (adj ? "adj" : "deo"));
  timed.erase("schedules");
  timed.erase("schedule");
  CHECK(timed == plain);
  const auto table = run_command(asked + "--time-schedules");
  CHECK_THAT(table.out,
             Catch::Contains("expected round trips a second") && Catch::Contains("\n--schedule "));
}

TEST_CASE("ladder refuses what makes no ladder, in one line") {
  const Prompts prompts;
  const std::string base = "ladder " + model + prompts.option();
  check_refusal(base + "--from 2 --to 2 --replicas 3", "to: is not above from");
  check_refusal(base + "--from 1 --to 2", "--replicas: is missing");
  check_refusal(base + "--from 1 --to 2 --replicas 1", "--replicas");
  check_refusal(base + "--from 1 --to 2 --replicas 3 --pilots 256", "--pilots");
  check_refusal(base + "--from 1 --to 2 --replicas 3 --rounds 1", "--rounds");
  check_refusal(base + "--from 1 --to 2 --replicas 3 --pilots 254 --time-schedules",
                "--time-schedules: takes two pilots more");
  check_refusal("ladder " + model + "--from 1 --to 2 --replicas 3", "--prompts: is missing");
  check_refusal("ladder " + prompts.option() + "--from 1 --to 2 --replicas 3", "--model");
}

// One run of few swaps: 0 of 6 accepted and 3 of 6 are no different as far as they can tell.
TEST_CASE("a ladder that ends early for want of swaps says so, and what to give") {
  const Prompts prompts;
  const auto printed = run_command("ladder " + model + prompts.option() +
                                   "--from 1 --to 8 --replicas 3 --horizon 24 --block 6 "
                                   "--rounds 12 --seed 1");
  REQUIRE(printed.exit_code == 0);
  CHECK(Catch::Contains("0.000 +- 0.000").match(printed.out));
  CHECK(Catch::Contains("pilots: 1; so few swaps tell no acceptances apart; more --rounds or "
                        "--samples may\n")
            .match(printed.out));
}

}  // namespace tempera::ladder_test
