#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/terminal/columns.hpp"
#include "reference/analysis/spectral_gap.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::exact_test {

using nlohmann::json;
using tempera::reference::parse_rational;
using tempera::reference::Rational;
using tempera::reference::to_decimal_below;
using tempera::test::check_refusal;
using tempera::test::Refusal;
using tempera::test::run_command;
using tempera::test::TemporaryFile;

namespace {

const char* const four_state = R"({"name": "four-state", "vocabulary": ["a", "e"],
  "terminal": ["e"], "next": {"": {"a": "1/2", "e": "1/2"}, "a": {"a": "1/2", "e": "1/2"}},
  "default": {"a": "1/2", "e": "1/2"}})";

json answer(const std::string& arguments) {
  const TemporaryFile model(four_state);
  const auto result = run_command("exact " + model.path() + " " + arguments + " --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  return json::parse(result.out);
}

}  // namespace

TEST_CASE("exact gives the paper's truncating matrix and curve") {
  const json report = answer("--horizon 2 --power 2 --kernel truncating --start 'a a' --steps 10");
  CHECK(report == json::parse(R"({
    "model": "four-state", "horizon": 2, "power": "2", "kernel": "truncating",
    "states": ["a", "a a", "a e", "e"],
    "base": ["0", "1/4", "1/4", "1/2"], "target": ["0", "1/6", "1/6", "2/3"],
    "matrix": [["1/2", "0", "0", "1/2"], ["0", "3/8", "3/8", "1/4"],
               ["0", "3/8", "3/8", "1/4"], ["1/2", "0", "0", "1/2"]],
    "invariant": false, "detailed_balance": false, "irreducible": false,
    "tv": ["5/6", "5/12", "17/48", "59/192", "37/128", "175/512", "781/2048", "3367/8192",
           "14197/32768", "58975/131072", "242461/524288"]})"));
}

TEST_CASE("exact gives the paper's fixed-horizon matrix and curve") {
  const json report = answer("--horizon 2 --power 2 --kernel fixed --start 'a e' --steps 2");
  CHECK(report["states"] == json{"a a", "a e", "e"});
  CHECK(report["matrix"] == json::parse(R"([["3/8", "3/8", "1/4"], ["3/8", "3/8", "1/4"],
                                            ["1/16", "1/16", "7/8"]])"));
  CHECK(report["invariant"] == true);
  CHECK(report["detailed_balance"] == true);
  CHECK(report["irreducible"] == true);
  CHECK(report["tv"] == json{"5/6", "5/12", "25/96"});
}

TEST_CASE("--no-matrix leaves out the matrix and nothing else") {
  for (const char* const question :
       {"--horizon 2 --power 2 --start 'a e'", "--horizon 3 --power 3 --kernel truncating",
        "--horizon 3 --power 3 --restart 1/2,0,1/2 --start e --steps 3",
        "--horizon 3 --power 2 --restart-range record", "--horizon 3 --power 2 --gap",
        "--horizon 9 --power 2 --start 'a a a e'"}) {
    json whole = answer(question);
    whole.erase("matrix");
    CHECK(answer(question + std::string(" --no-matrix")) == whole);
  }
  const TemporaryFile model(four_state);
  const auto table = run_command("exact " + model.path() + " --horizon 2 --power 2 --no-matrix");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("3 states, carried without a matrix") &&
                            Catch::Contains("reversible:       yes"));
  // The fixed kernel's is never built: 1,024 records whose matrix would have a million fractions.
  const TemporaryFile coin(R"({"name": "coin", "vocabulary": ["a", "b"], "terminal": [],
                               "default": {"a": "2/3", "b": "1/3"}})");
  const auto large = run_command("exact " + coin.path() + " --horizon 10 --power 2 --no-matrix");
  CHECK_THAT(large.out, Catch::Contains("1024 states, carried without a matrix"));
  check_refusal("exact " + model.path() + " --horizon 2 --powers 1,2 --no-matrix",
                "--no-matrix: has no meaning with --powers");
}

// The prior at horizon 1 is fair, so every swap is accepted: up and down takes two sweeps, and four
// layers, every second of which is idle.
TEST_CASE("--round-trips adds what a tagged replica does, and nothing else") {
  const std::string question = "--horizon 1 --powers 1,2";
  json report = answer(question + " --round-trips 4");
  CHECK(report["round_trips"] == json{{"expected", {"0", "0", "1", "1", "2"}}, {"formula", "2"}});
  report.erase("round_trips");
  CHECK(report == answer(question));
  const json layers = answer(question + " --schedule deo --round-trips 4")["round_trips"];
  CHECK(layers == json{{"expected", {"0", "0", "0", "1", "1"}}, {"formula", "4"}});
  const TemporaryFile model(four_state);
  const auto table =
      run_command("exact " + model.path() + " --horizon 2 --powers 1,2 --round-trips 3");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("expected round trips"));
  check_refusal("exact " + model.path() + " --horizon 2 --power 2 --round-trips 3",
                "--round-trips: has no meaning with --power");
  check_refusal("exact " + model.path() + " --horizon 2 --powers 1,2 --round-trips 0",
                "--round-trips");
}

// The second eigenvalue is 5/8: a gap of 3/8 and a relaxation time of 8/3 steps.
TEST_CASE("--gap encloses the spectral gap and the relaxation time") {
  json report = answer("--horizon 2 --power 2 --gap");
  const auto holds = [&](const char* field, const Rational& value) {
    const Rational least = parse_rational(report[field][0].get<std::string>(), field);
    const Rational most = parse_rational(report[field][1].get<std::string>(), field);
    CHECK(least <= value);
    CHECK(value <= most);
    CHECK(most - least < Rational(1, 100'000'000));
  };
  holds("gap", Rational(3, 8));
  holds("relaxation", Rational(8, 3));
  // On kernels of other sizes, powers and restarts: the brackets are those of the second
  // eigenvalue, by the numbers of eigenvalues above their ends, and as narrow as they are said to
  // be.
  for (const char* const arguments :
       {"--horizon 1 --power 3", "--horizon 2 --power 5", "--horizon 3 --power 2",
        "--horizon 3 --power 3 --restart 1/2,1/3,1/6", "--horizon 4 --power 4"}) {
    CAPTURE(arguments);
    const json found = answer(std::string(arguments) + " --gap");
    const auto list = [&](const json& texts) {
      reference::Law law;
      for (const json& text : texts) law.push_back(parse_rational(text.get<std::string>(), "list"));
      return law;
    };
    reference::Matrix kernel(found["states"].size(), found["states"].size());
    for (std::size_t x = 0; x < kernel.rows(); ++x) {
      const reference::Law row = list(found["matrix"][x]);
      for (std::size_t y = 0; y < row.size(); ++y) kernel(x, y) = row[y];
    }
    const reference::Law target = list(found["target"]);
    const reference::Law gap = list(found["gap"]);
    CHECK(gap[1] - gap[0] == Rational(1) / Rational(std::uint64_t{1} << 31));
    CHECK(reference::eigenvalues_above(kernel, target, 1 - gap[1]) >= 2);
    CHECK(reference::eigenvalues_above(kernel, target, 1 - gap[0]) < 2);
    const reference::Law relaxation = list(found["relaxation"]);
    CHECK(relaxation[0] == 1 / gap[1]);
    CHECK(relaxation[1] == 1 / gap[0]);
  }
  report.erase("gap");
  report.erase("relaxation");
  CHECK(report == answer("--horizon 2 --power 2"));
  const TemporaryFile model(four_state);
  const std::string exact = "exact " + model.path() + " ";
  const auto table = run_command(exact + "--horizon 2 --power 2 --gap");
  CHECK_THAT(table.out, Catch::Contains("spectral gap:     0.37"));
  CHECK_THAT(table.out, Catch::Contains("relaxation time:  2.66"));
  for (const auto& [arguments, message] : std::vector<Refusal>{
           {"exact " TEMPERA_SOURCE_DIR "/toy_models/one_record.json --horizon 4 --power 2 --gap",
            "gap: is asked of 1 state"},
           {exact + "--horizon 2 --power 2 --kernel truncating --gap", "--gap"}})
    check_refusal(arguments, message);
}

// The table prints ten places: a lower bound is the last such number that is not above it, an
// upper bound the first that is not below.
TEST_CASE("the table's bounds are bounds too") {
  const Rational place = Rational(1) / 10'000'000'000;
  for (const char* const arguments :
       {"late_payoff.json --horizon 5 --power 3", "late_payoff.json --horizon 5 --power 2",
        "unequal_lengths.json --horizon 3 --power 2", "four_state.json --horizon 3 --power 3"}) {
    CAPTURE(arguments);
    const std::string asked = "exact " TEMPERA_SOURCE_DIR "/toy_models/" + std::string(arguments) +
                              " --gap --cuts --mixing 1/7 --no-matrix";
    const json exact = json::parse(run_command(asked + " --json").out);
    const std::string table = run_command(asked).out;
    // Where the section with this name begins, and the number after `label` there.
    const auto printed = [&](const char* section, const std::string& label) {
      const std::size_t begin = table.find(label, table.find(section));
      REQUIRE(begin < table.size());
      std::istringstream text(table.substr(begin + label.size()));
      std::string number;
      text >> number;
      return parse_rational(number, label);
    };
    const auto value = [](const json& text) { return parse_rational(text.get<std::string>(), ""); };
    const auto at_least = [&](const char* section, const char* label, const json& bound) {
      CAPTURE(section, label);
      CHECK(printed(section, label) <= value(bound));
      CHECK(value(bound) < printed(section, label) + place);
    };
    const auto at_most = [&](const char* section, const std::string& label, const json& bound) {
      CAPTURE(section, label);
      CHECK(value(bound) <= printed(section, label));
      CHECK(printed(section, label) < value(bound) + place);
    };
    at_least("spectral gap", "gap:", exact["gap"][0]);
    at_most("spectral gap", " to ", exact["gap"][1]);
    at_least("relaxation", "time:", exact["relaxation"][0]);
    at_most("relaxation", " to ", exact["relaxation"][1]);
    for (const auto& [section, cut] :
         {std::pair("by first tokens", "cut"), std::pair("narrowest cut of all", "any_cut")}) {
      at_most(section, "gap at most:", exact[cut]["gap_at_most"]);
      at_least(section, "steps at least:", exact[cut]["steps_at_least"]);
    }
    at_least("narrowest cut of all", "gap at least:", exact["any_cut"]["gap_at_least"]);
  }
  // A gap that cannot be told from 0 leaves the relaxation time without an upper bound.
  const std::string slow = "exact " TEMPERA_SOURCE_DIR
                           "/toy_models/late_payoff.json --horizon 5 --power 60 --gap --no-matrix";
  const json found = json::parse(run_command(slow + " --json").out);
  CHECK(found["gap"][0] == "0");
  CHECK(found["relaxation"] == nullptr);
  const Rational least = 1 / parse_rational(found["gap"][1].get<std::string>(), "gap");
  CHECK_THAT(run_command(slow).out,
             Catch::Contains("relaxation time:  " + to_decimal_below(least, 10) + " or more\n"));
}

// The distances of four_state are 5/6, 5/12, 25/96 and 125/768 (its page), and a joint chain's are
// those of reference/.
TEST_CASE("--mixing and --cuts add how fast a chain forgets its start, and nothing else") {
  json report = answer("--horizon 2 --power 2 --mixing 26/96 --cuts");
  const auto encloses = [&](const json& ends, const Rational& value) {
    CHECK(parse_rational(ends[0].get<std::string>(), "end") <= value);
    CHECK(value <= parse_rational(ends[1].get<std::string>(), "end"));
  };
  CHECK(report["mixing"]["within"] == "13/48");
  CHECK(report["mixing"]["steps"] == 2);
  CHECK(report["mixing"]["worst_start"].get<std::string>().front() == 'a');
  encloses(report["mixing"]["before"], Rational(5, 12));
  encloses(report["mixing"]["after"], Rational(25, 96));
  CHECK(report["cut"] == json::parse(R"({"first_tokens": ["a"], "mass": "1/3", "flow": "1/12",
    "conductance": "1/4", "gap_at_most": "3/8", "within": "13/48", "steps_at_least": "19/12"})"));
  CHECK(report["any_cut"] == json::parse(R"({"states": ["a a", "a e"], "mass": "1/3",
    "flow": "1/12", "conductance": "1/4", "gap_at_most": "3/8", "within": "13/48",
    "steps_at_least": "19/12", "gap_at_least": "1/32"})"));
  for (const char* const added : {"mixing", "cut", "any_cut"}) report.erase(added);
  CHECK(report == answer("--horizon 2 --power 2"));
  // A cut's bound is at 1/4 unless --mixing says.
  CHECK(answer("--horizon 2 --power 2 --cuts")["cut"]["steps_at_least"] == "5/3");
  const json joint = answer("--horizon 2 --powers 1,2 --gap --mixing 1/4 --cuts");
  CHECK(joint["cut"]["first_tokens"] == json{"a"});
  CHECK_FALSE(joint["cut"].contains("gap_at_most"));
  CHECK_FALSE(joint["any_cut"].contains("gap_at_least"));
  CHECK(joint["mixing"]["steps"].get<int>() > 1);
  CHECK(parse_rational(joint["gap"][0].get<std::string>(), "gap") > 0);
  const TemporaryFile model(four_state);
  const std::string exact = "exact " + model.path() + " ";
  const auto table = run_command(exact + "--horizon 2 --power 2 --mixing 1/4 --cuts");
  CHECK_THAT(table.out, Catch::Contains("mixing time:      3 steps to within 1/4") &&
                            Catch::Contains("narrowest cut, by first tokens: (a)") &&
                            Catch::Contains("gap at least:     0.03125"));
  const auto ladder = run_command(exact + "--horizon 2 --powers 1,2 --gap --cuts");
  CHECK_THAT(ladder.out, Catch::Contains("of P P*, P* the chain backwards:") &&
                             !Catch::Contains("gap at most"));
  for (const char* const distance : {"0", "1", "5/4", "-1/4"})
    check_refusal(exact + "--horizon 2 --power 2 --mixing=" + distance, "--mixing");
  for (const auto& [arguments, message] : std::vector<Refusal>{
           {exact + "--horizon 2 --power 2 --mixing x", "--mixing"},
           {exact + "--horizon 2 --power 2 --kernel truncating --mixing 1/4", "--mixing"},
           {exact + "--horizon 2 --power 2 --kernel truncating --cuts", "--cuts"},
           {exact + "--horizon 16 --powers 1,2,3 --gap", "gap: is asked of 4913 states"},
           {exact + "--horizon 64 --powers 1,2 --mixing 1/4",
            "mixing time: is asked of 4225 states"},
           {"exact " TEMPERA_SOURCE_DIR "/toy_models/one_record.json --horizon 4 --power 2 --cuts",
            "cuts: is asked of 1 state"}})
    check_refusal(arguments, message);
}

TEST_CASE("without a start there is no curve, and ten steps are the default") {
  CHECK(answer("--horizon 2 --power 2")["tv"] == json::array());
  CHECK(answer("--horizon 2 --power 2 --start e")["tv"].size() == 11);
  CHECK(answer("--horizon 2 --powers 1,2")["tv"] == json::array());
}

TEST_CASE("a restart law without full restarts keeps what has ended") {
  const json report = answer("--horizon 2 --power 2 --restart 0,1");
  CHECK(report["matrix"][2] == json{"0", "0", "1"});
  CHECK(report["invariant"] == true);
  CHECK(report["irreducible"] == false);
}

TEST_CASE("exact takes the record's own restart positions") {
  const json own = answer("--horizon 2 --power 2 --restart 1/3,2/3 --restart-range record");
  CHECK(own["matrix"][0] == json{"5/12", "5/12", "1/6"});
  CHECK(own["matrix"][2] == json{"1/24", "1/24", "11/12"});
  CHECK(own["detailed_balance"] == true);
  const json joint = answer("--horizon 3 --powers 1,2 --restart-range record --start 'e|e'");
  CHECK(joint["invariant"] == true);
  CHECK_FALSE(joint["tv"] == answer("--horizon 3 --powers 1,2 --start 'e|e'")["tv"]);
}

TEST_CASE("exact judges the joint chain under both schedules") {
  const json adj = answer("--horizon 2 --powers 1,2,4 --schedule adj --start 'a a|e|a a'");
  CHECK(adj["states"] == json{"a a", "a e", "e"});
  CHECK(adj["invariant"] == true);
  CHECK(adj["reversible"] == false);
  CHECK(adj["irreducible"] == true);
  CHECK(adj["swap_acceptance"] == json{"5/6", "7/9"});
  CHECK(adj["tv"].size() == 11);
  CHECK(adj["tv"][1] == "1523/3072");
  CHECK(adj.size() == 6);
  const json deo =
      answer("--horizon 2 --powers 1,2,4 --schedule deo --start 'a a|e|a a' --steps 1");
  CHECK(deo["invariant"] == true);
  CHECK(deo["reversible"] == false);
  CHECK(deo["tv"] == json{"107/108", "23/36"});
  // One rung has no exchange: the joint chain is the local kernel.
  const json alone = answer("--horizon 2 --powers 2 --start 'a a' --steps 2");
  CHECK(alone["reversible"] == true);
  CHECK(alone["swap_acceptance"] == json::array());
  CHECK(alone["tv"] == json{"5/6", "5/12", "25/96"});
}

TEST_CASE("the table names the smallest state pair that breaks a claim") {
  const TemporaryFile model(four_state);
  const auto result =
      run_command("exact " + model.path() + " --horizon 2 --power 2 --kernel truncating");
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Catch::Contains("not reversible: (a) -> (e) flows 0, back 1/3"));
  CHECK_THAT(result.out, Catch::Contains("changes the mass of (a) from 0 to 1/3"));
}

TEST_CASE("the tables of exact fit 100 columns") {
  const std::string toy_models = TEMPERA_SOURCE_DIR "/toy_models/";
  const TemporaryFile wordy(R"({"name": ")" + std::string(90, 'n') + R"(", "vocabulary": [")" +
                            std::string(60, 'x') + R"(", "e"], "terminal": ["e"], "default": {")" +
                            std::string(60, 'x') + R"(": "123456789/987654321", "e":
                            "864197532/987654321"}})");
  for (const std::string& arguments :
       {toy_models + "deep_chain.json --horizon 30 --power 2 --start '" +
            [] {
              std::string record = "a";
              for (int t = 1; t < 30; ++t) record += " a";
              return record;
            }() +
            "'",
        toy_models + "four_tokens.json --horizon 3 --power 3 --kernel truncating",
        toy_models + "never_ends.json --horizon 5 --power 3",
        toy_models + "four_state.json --horizon 2 --powers 1,2,4",
        wordy.path() + " --horizon 3 --power 2 --kernel truncating",
        wordy.path() + " --horizon 2 --powers 1,2"}) {
    const auto result = run_command("exact " + arguments);
    CAPTURE(arguments, result.err);
    REQUIRE(result.exit_code == 0);
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(tempera::cli::columns_of(line) <= 100);
    }
  }
}

TEST_CASE("a space too large for a matrix is carried without one") {
  const json joint = answer("--horizon 70 --powers 1,2 --start 'e|e' --steps 1");
  CHECK(joint["size"] == 71 * 71);
  CHECK(joint["states"].size() == 71);
  CHECK(joint["invariant"] == true);
  CHECK(joint["reversible"] == false);
  CHECK(joint["irreducible"] == true);
  CHECK(joint["swap_acceptance"].size() == 1);
  CHECK(joint["tv"].size() == 2);
  CHECK(answer("--horizon 70 --powers 1,2 --schedule deo")["reversible"] == true);
  const TemporaryFile coin(R"({"name": "coin", "vocabulary": ["a", "b"], "terminal": [],
                               "default": {"a": "2/3", "b": "1/3"}})");
  check_refusal("exact " + coin.path() + " --horizon 11 --power 2", "--no-matrix: is missing");
  const auto result =
      run_command("exact " + coin.path() + " --horizon 11 --power 2 --no-matrix --json --start '" +
                  "a a a a a a a a a a a' --steps 2");
  REQUIRE(result.exit_code == 0);
  const json rung = json::parse(result.out);
  CHECK(rung["size"] == 2048);
  CHECK(rung["states"].size() == 2048);
  CHECK(rung["target"].size() == 2048);
  CHECK(rung["detailed_balance"] == true);
  CHECK(rung["tv"].size() == 3);
  const auto table = run_command("exact " + coin.path() + " --horizon 11 --power 2 --no-matrix");
  CHECK_THAT(table.out, Catch::Contains("2048 states, carried without a matrix") &&
                            Catch::Contains("reversible:       yes"));
}

TEST_CASE("the truncating kernel goes beyond its matrix without one") {
  const TemporaryFile coin(R"({"name": "coin", "vocabulary": ["a", "b"], "terminal": [],
                               "default": {"a": "2/3", "b": "1/3"}})");
  const std::string asked =
      "exact " + coin.path() + " --horizon 10 --power 2 --kernel truncating --json";
  check_refusal(asked, "more than the limit of 1024");
  const auto result = run_command(asked + " --no-matrix --start 'a a a a a a a a a a' --steps 2");
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  CHECK(report["states"].size() == 2046);
  CHECK_FALSE(report.contains("matrix"));
  CHECK(report["invariant"] == true);
  CHECK(report["tv"].size() == 3);
}

TEST_CASE("bad input ends in one line and exit code 2") {
  const TemporaryFile model(four_state);
  const TemporaryFile unequal(R"({"name": "m", "vocabulary": ["a"], "terminal": [],
                                  "default": {"a": "1/2"}})");
  const std::string four = model.path() + " ";
  const Refusal refusals[] = {
      {"/nowhere.json --horizon 2 --power 2", "/nowhere.json: cannot be read"},
      {unequal.path() + " --horizon 2 --power 2", "sums to 1/2, not to 1"},
      {four + "--power 2", "--horizon: is missing"},
      {four + "--horizon 0 --power 2", "--horizon: \"0\" is out of range"},
      {four + "--horizon 200 --power 2", "above the limit of 128"},
      {four + "--horizon 100 --powers 1,2,3,4", "104060401 joint states"},
      {four + "--horizon 2 --power 0", "the power 0 is not positive"},
      {four + "--horizon 2 --power -1", "the power -1 is not positive"},
      {four + "--horizon 2 --power 3/2", "the probability 1/2 raised to it is irrational"},
      {four + "--horizon 2 --power two", "--power: \"two\" is not a number"},
      {four + "--horizon 2", "exactly one of --power and --powers"},
      {four + "--horizon 2 --power 2 --powers 1,2", "exactly one of --power and --powers"},
      {four + "--horizon 2 --powers 1,1", "the ladder does not increase"},
      {four + "--horizon 2 --powers 2,1", "the ladder does not increase"},
      {four + "--horizon 2 --power 2 --kernel other", "--kernel: \"other\" is unknown"},
      {four + "--horizon 2 --powers 1,2 --schedule other", "--schedule: \"other\" is unknown"},
      {four + "--horizon 2 --power 2 --schedule adj", "--schedule: has no meaning with --power"},
      {four + "--horizon 2 --powers 1,2 --kernel fixed", "--kernel: has no meaning"},
      {four + "--horizon 2 --power 2 --kernel truncating --restart 1/2,1/2", "--restart"},
      {four + "--horizon 2 --power 2 --kernel truncating --restart-range record",
       "--restart-range: has no meaning with --kernel truncating"},
      {four + "--horizon 2 --power 2 --restart 0,1 --restart-range record",
       "restart law: position 1 has no weight"},
      {four + "--horizon 70 --powers 1,2 --restart-range record",
       "restart range: the record's own"},
      {four + "--horizon 2 --power 2 --restart 1/2,1/3", "--restart: the weights sum to 5/6"},
      {four + "--horizon 2 --power 2 --restart 1", "--restart: has 1 weights"},
      {four + "--horizon 2 --power 2 --steps 3", "--steps: has no effect without --start"},
      {four + "--horizon 2 --power 2 --start e --steps x", "--steps: \"x\" is not a whole number"},
      {four + "--horizon 2 --power 2 --start ''", "--start: \"\" is empty"},
      {four + "--horizon 02 --power 2", "--horizon: \"02\" is not a whole number"},
      {four + "--horizon 2 --power 02", "--power: \"02\" is not a number"},
      {four + "--horizon 2 --powers 1,02", "--powers: \"02\" is not a number"},
      {four + "--horizon 2 --power 1025", "above 1024"},
      {four + "--horizon 2 --power 2 --start z", "unknown token \"z\""},
      {four + "--horizon 2 --power 2 --start 'e a'", "after a terminal token"},
      {four + "--horizon 2 --power 2 --start a", "wrong length for horizon 2"},
      {four + "--horizon 2 --powers 1,2 --start e", "give one for each of the 2 rungs"},
  };
  for (const Refusal& refusal : refusals) {
    for (const char* form : {"", " --json"})
      check_refusal("exact " + refusal.arguments + form, refusal.message);
  }
}

}  // namespace tempera::exact_test
