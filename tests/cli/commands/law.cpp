#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/terminal/columns.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "lab/laws/shipped_programs.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera::test;
using tempera::cli::columns_of;
using tempera::reference::parse_rational;
using tempera::reference::Rational;

namespace {

const std::string toy_models = TEMPERA_SOURCE_DIR "/toy_models/";

json answer(const std::string& arguments) {
  const auto result = run_command("law " + toy_models + arguments + " --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  return json::parse(result.out);
}

Rational rational(const json& text) { return parse_rational(text.get<std::string>(), "law"); }

/// A distance; doubles do not hold the smallest of them.
tempera::lab::Real number(const json& text) { return tempera::lab::Real(text.get<std::string>()); }

/// The contract of the architecture: the seven fields, and a law that is one.
void check_law(const json& report, std::size_t states) {
  CHECK(report.size() == 7);
  REQUIRE(report["states"].size() == states);
  REQUIRE(report["matrix"].size() == states);
  REQUIRE(report["stationary"].size() == states);
  std::vector<Rational> next(states);
  for (std::size_t x = 0; x < states; ++x) {
    REQUIRE(report["matrix"][x].size() == states);
    Rational row = 0;
    for (std::size_t y = 0; y < states; ++y) {
      const Rational entry = rational(report["matrix"][x][y]);
      row += entry;
      next[y] += rational(report["stationary"][x]) * entry;
    }
    CHECK(row == Rational(1));
  }
  for (std::size_t y = 0; y < states; ++y) CHECK(next[y] == rational(report["stationary"][y]));
  // The bounds are derived in lab/laws/shipped_laws.hpp.
  CHECK(number(report["tv_to_target"]) < tempera::lab::target_bound);
  CHECK(number(report["tv_own"]) < tempera::lab::own_bound);
  CHECK(number(report["tv_one_step"]) < tempera::lab::own_bound);
}

/// What law says of all shipped models; asked once.
const json& shipped_answer() {
  static const json report = [] {
    const auto result = run_command_once("law.json", "law --json");
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    return json::parse(result.out);
  }();
  return report;
}

}  // namespace

TEST_CASE("law prints the compiled chain, its stationary law and its distances") {
  const json single = answer("four_state.json --horizon 2 --power 2");
  check_law(single, 3);
  CHECK(single["states"] == json{"a a", "a e", "e"});
  CHECK(std::stod(single["worst_entry"].get<std::string>()) < 1e-11);
  const json joint = answer("four_state.json --horizon 2 --powers 1,2");
  check_law(joint, 9);
  CHECK(joint["states"][1] == "a a|a e");
}

TEST_CASE("law --no-matrix leaves out the matrix and nothing else") {
  json whole = answer("four_state.json --horizon 2 --powers 1,2");
  whole.erase("matrix");
  CHECK(answer("four_state.json --horizon 2 --powers 1,2 --no-matrix") == whole);
}

TEST_CASE("law --of ptx draws by what nvcc compiled, and is the law of this build") {
  for (const char* question : {"four_state.json --horizon 2 --power 2.5",
                               "four_state.json --horizon 1 --powers 1,2 --schedule deo"}) {
    json compiled = answer(std::string(question) + " --of ptx");
    CHECK(compiled["of"] == "ptx");
    compiled.erase("of");
    CHECK(compiled == answer(question));
  }
  const auto table =
      run_command("law " + toy_models + "four_state.json --horizon 1 --power 2 --of ptx");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("what nvcc compiled (PTX)"));
  check_refusal("law " + toy_models + "four_state.json --horizon 2 --power 2 --of sass", "--of");
  check_refusal(
      "law " + toy_models + "four_state.json --horizon 2 --power 2 --of ptx --sampler standard",
      "--sampler");
}

TEST_CASE("law --of ptx without a model walks the small uses of all, and has this build's laws") {
  const auto result = run_command("law --of ptx --json");
  CHECK(result.exit_code == 0);
  const json compiled = json::parse(result.out);
  CHECK(compiled["of"] == "ptx");
  CHECK(compiled["all"] == false);
  CHECK(compiled["fail"] == 0);
  // Each is one of this build's, figure for figure, and every model is there.
  std::set<std::string> models;
  std::set<std::string> all_models;
  for (const json& law : shipped_answer()["laws"])
    all_models.insert(law["model"].get<std::string>());
  std::size_t ladders = 0;
  for (const char* kind : {"laws", "programs"}) {
    for (json walked : compiled[kind]) {
      if (walked["powers"].size() > 1) ++ladders;
      models.insert(walked["model"].get<std::string>());
      walked.erase("seconds");
      std::size_t found = 0;
      for (json own : shipped_answer()[kind]) {
        own.erase("seconds");
        if (own == walked) ++found;
      }
      INFO(walked.dump());
      CHECK(found > 0);
    }
  }
  CHECK(models == all_models);
  CHECK(ladders >= 4);
  CHECK(compiled["programs"].size() >= 12);
  CHECK(compiled["laws"].size() >= 12);
  check_refusal("law --all", "--all");
  check_refusal("law " + toy_models + "four_state.json --horizon 2 --power 2 --of ptx --all",
                "--all");
}

TEST_CASE("law compares with reference/ at fractions, and leaves that out at no simple one") {
  const json report = answer("four_state.json --horizon 2 --power 2.35");
  check_law(report, 3);
  CHECK(number(report["worst_entry"]) < 1e-7);
  CHECK(answer("four_state.json --horizon 2 --power 1.0001")["worst_entry"].is_null());
}

TEST_CASE("law takes powers as fractions, and compares with reference/") {
  CHECK(answer("four_state.json --horizon 2 --power 3/2") ==
        answer("four_state.json --horizon 2 --power 1.5"));
  // Squares have roots: of 1/4 and 9/16 none, of 1/4 and 3/4 not both.
  const TemporaryFile squares(R"({"name": "squares", "vocabulary": ["a", "b", "c", "e"],
                                  "terminal": ["e"], "default": {"a": "1/4", "b": "1/4", "c": "1/4",
                                                                 "e": "1/4"}})");
  const auto report = [&](const std::string& rest) {
    const auto result = run_command("law " + squares.path() + " --horizon 2 --json " + rest);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
  };
  const json single = report("--power 3/2");
  check_law(single, 13);
  CHECK(number(single["worst_entry"]) < 1e-11);
  CHECK(number(report("--powers 1,3/2 --no-matrix")["worst_entry"]) < 1e-11);
  const json sampler = report("--sampler ppt --powers 1,3/2 --block 1");
  CHECK(number(sampler["tv_own"]) < tempera::lab::program_bound);
  CHECK(number(sampler["tv_to_definition"]) < tempera::lab::target_bound);
  CHECK(sampler["holds"] == true);
  check_refusal("law " + squares.path() + " --horizon 2 --power 1/0", "--power");
  check_refusal("law " + squares.path() + " --horizon 2 --power 1/9999999", "is out of range");
  // Probabilities without the root: the definition's law is that of powers rounded to 160 bits.
  const auto irrational = run_command("law " + toy_models + "four_state.json --json --horizon 2 " +
                                      "--sampler ppt --powers 1,2.35 --block 1");
  REQUIRE(irrational.exit_code == 0);
  CHECK(json::parse(irrational.out)["holds"] == true);
  CHECK(number(json::parse(irrational.out)["tv_own"]) < tempera::lab::program_bound);
  check_refusal("law " + squares.path() + " --horizon 2 --sampler ppt --powers 1,10001/10000",
                "above 1024");
}

TEST_CASE("law walks whole samplers beyond 256 joint states") {
  std::string names, row;
  for (int v = 0; v < 17; ++v) {
    const std::string name = "\"t" + std::to_string(v) + "\"";
    names += (v == 0 ? "" : ", ") + name;
    row += (v == 0 ? "" : ", ") + name + (v == 0 ? ": \"1/2\"" : ": \"1/32\"");
  }
  const TemporaryFile wide(R"({"name": "wide", "vocabulary": [)" + names +
                           R"(], "terminal": [], "default": {)" + row + "}}");
  const auto result = run_command("law " + wide.path() +
                                  " --horizon 1 --powers 1,2 --sampler ppt --block 1 --json");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  CHECK(report["records"].size() * report["records"].size() == 289);
  CHECK(number(report["tv_own"]) < tempera::lab::program_bound);
  CHECK(report["holds"] == true);
}

TEST_CASE("law has numbers, and no NaN, at both ends of the range of powers") {
  for (const char* power : {"1048576", "0.00000095367431640625"}) {
    CAPTURE(power);
    const json report = answer(std::string("four_state.json --horizon 2 --power ") + power);
    check_law(report, 3);
  }
  // Records of probability down to 2^-1280, whose power at the top of the range no floating point
  // holds.
  const TemporaryFile unlikely(R"({"name": "m", "vocabulary": ["a", "b"], "terminal": ["b"],
                                  "default": {"a": "1/4294967296", "b": "4294967295/4294967296"}})");
  const auto result =
      run_command("law " + unlikely.path() + " --horizon 40 --power 1048576 --json");
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  // The likeliest record, of probability (1 - 2^-32), takes it all.
  for (const char* distance : {"tv_to_target", "tv_own", "tv_one_step"}) {
    CAPTURE(distance, report[distance]);
    CHECK(number(report[distance]) >= 0);
    CHECK(number(report[distance]) < 1);
  }
}

TEST_CASE("law takes a restart law and prints a table for people") {
  check_law(answer("four_state.json --horizon 2 --power 2 --restart 1/4,3/4"), 3);
  CHECK(answer("four_state.json --horizon 2 --power 2 --restart 1/2,1/2") ==
        answer("four_state.json --horizon 2 --power 2"));
  const auto table = run_command("law " + toy_models + "four_state.json --horizon 2 --power 2");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("3 states") && Catch::Contains("6.666667e-01  e"));
}

TEST_CASE("law takes the record's own restart positions, on one rung and beyond a stationary law") {
  const std::string rung = "unequal_lengths.json --horizon 3 --power 3 --restart 1/6,1/3,1/2";
  const auto own = answer(rung + " --restart-range record");
  check_law(own, own["states"].size());
  CHECK_FALSE(own["matrix"] == answer(rung)["matrix"]);
  CHECK(answer(rung + " --restart-range horizon") == answer(rung));
  const auto step =
      answer("unequal_lengths.json --horizon 5 --powers 1,2,4,6 --restart-range record");
  CHECK(step["stationary"].is_null());
  CHECK(number(step["tv_one_step"]) < 1e-11);
  // What one step does, over what it takes two laws nearer by.
  CHECK(number(step["minorization"]) > 0);
  CHECK(number(step["minorization"]) < 1);
  const tempera::lab::Real ratio =
      number(step["tv_own_at_most"]) * number(step["minorization"]) / number(step["tv_one_step"]);
  CHECK(ratio > 0.9999);
  CHECK(ratio < 1.0001);
}

TEST_CASE("law without a model goes through every shipped one, on one rung and on the ladder") {
  const json& report = shipped_answer();
  const json uses = json::parse(bytes_of(toy_models + "models.json"));
  std::size_t laws = 0;
  for (const json& use : uses) laws += use["powers"].size() > 1 ? 2 : 1;
  CHECK(report["laws"].size() == laws);
  CHECK(report["hold"] == laws + report["programs"].size());
  CHECK(report["fail"] == 0);
  for (const json& law : report["laws"]) {
    CHECK(std::stod(law["tv_to_target"].get<std::string>()) < 1e-6);
    CHECK(std::stod(law["tv_own"].get<std::string>()) < 1e-11);
  }
  const json& with_restart =
      *std::find_if(report["laws"].begin(), report["laws"].end(),
                    [](const json& law) { return law["restart"].is_array(); });
  CHECK(with_restart["restart"] == json{"1/2", "0", "0", "0", "0", "0", "0", "1/2"});
}

TEST_CASE("law without a model walks whole programs on every shipped model") {
  const json& report = shipped_answer();
  std::set<std::string> models, walked, truncating;
  for (const json& use : json::parse(bytes_of(toy_models + "models.json")))
    models.insert(use["file"].get<std::string>());
  std::set<std::size_t> rungs;
  std::set<std::string> schedules;
  for (const json& program : report["programs"]) {
    CAPTURE(program);
    (program["sampler"] == "PPT" ? walked : truncating).insert(program["model"]);
    rungs.insert(program["powers"].size());
    schedules.insert(program["schedule"]);
    CHECK(number(program["tv_own"]) < tempera::lab::program_bound);
    CHECK(number(program["tv_answer"]) <= number(program["tv_own"]));
    CHECK(number(program["tv_to_target"]) < tempera::lab::target_bound);
    CHECK(program["holds"] == true);
    CHECK(program["states"] > 0);
    if (program["powers"].size() > 1) CHECK(program["output_rung"] < program["powers"].size());
  }
  CHECK(walked == models);
  CHECK(truncating == models);
  CHECK(rungs == std::set<std::size_t>{1, 2, 3});
  CHECK(schedules == std::set<std::string>{"", "adj", "deo"});
}

TEST_CASE("law takes a step of the even-odd schedule") {
  const json deo = answer("four_state.json --horizon 2 --powers 1,2,4 --schedule deo");
  check_law(deo, 27);
  CHECK(number(deo["worst_entry"]) < 1e-11);
  const json adj = answer("four_state.json --horizon 2 --powers 1,2,4 --schedule adj");
  CHECK(adj == answer("four_state.json --horizon 2 --powers 1,2,4"));
  CHECK(deo["matrix"] != adj["matrix"]);
}

TEST_CASE("law of a sampler prints its compiled law beside its definition's") {
  const json standard = answer("four_state.json --sampler standard --horizon 2");
  CHECK(standard["records"] == json{"a a", "a e", "e"});
  CHECK(standard["defined"] == json{"1/4", "1/4", "1/2"});
  CHECK(standard["decode_tokens_defined"] == "3/2");
  for (const char* run : {"low-temperature --power 2",
                          "power-sampling --power 2 --rounds 2",
                          "fixed-horizon --power 2 --local-moves 2",
                          "power-smc --power 2 --particles 3 --block 1",
                          "ramped-smc --powers 1,2 --particles 3 --block 1",
                          "exact-rejection --power 2",
                          "exact-rejection --power 3/2 --most-tokens 7",
                          "best-of-n --power 1 --particles 3",
                          "uncoupled-ladder --powers 1,2 --output-rung 1",
                          "uncoupled-ladder-by-likelihood --powers 1,2",
                          "ppt --powers 1,2 --sweeps 2",
                          "ppt --powers 1,2 --schedule deo",
                          "ppt --powers 1,2 --early-rejection",
                          "ppt --powers 1,2 --restart-weights 3,1 --restart-range record --block 2",
                          "ppt --powers 1,2 --rounds 2 --local-moves 0",
                          "ppt --powers 1,2 --sweeps 0 --local-moves 0",
                          "uncoupled-ladder --powers 1,2 --early-rejection --restart-range record",
                          "fixed-horizon --power 2 --local-moves 2 --prefetch 1",
                          "fixed-horizon --power 2 --local-moves 0",
                          "power-sampling --power 2 --local-moves 0"}) {
    CAPTURE(run);
    const json report = answer("several_terminals.json --horizon 2 --sampler " + std::string(run));
    Rational compiled = 0, defined = 0;
    for (const json& probability : report["compiled"]) compiled += rational(probability);
    for (const json& probability : report["defined"]) defined += rational(probability);
    CHECK(compiled == 1);
    CHECK(defined == 1);
    CHECK(report["holds"] == true);
    CHECK(number(report["tv_to_definition"]) < tempera::lab::target_bound);
  }
  for (const char* rules :
       {"--top-p 0.55", "--top-k 2 --min-p 0.1", "--min-tokens 1", "--ignore-eos",
        "--repetition-penalty 1.3", "--frequency-penalty 0.4 --power 2",
        "--presence-penalty -1 --top-p 0.9"}) {
    CAPTURE(rules);
    const std::string asked = "several_terminals.json --horizon 3 --sampler low-temperature ";
    const json report = answer(asked + rules);
    CHECK(report["holds"] == true);
    CHECK(report["defined"] != answer(asked)["defined"]);
  }
  // The two that tie at the bound of top_p and of top_k both stay, or both go.
  const std::string ties = "--horizon 1 --sampler standard ";
  for (const char* both : {"--top-k 1", "--top-p 0.5", "--top-p 0.25", "--min-p 1"})
    CHECK(answer("four_state.json " + ties + both)["compiled"] == json{"1/2", "1/2"});
  check_refusal("law " + toy_models + "four_state.json --horizon 2 --sampler ppt --top-p 0.5",
                "--top-p: changes the law of each token, and ppt draws whole answers");
  check_refusal("law " + toy_models + "four_state.json --horizon 2 --power 2 --top-p 0.5",
                "give the sampler that --top-p is for");
  // At power 2 a proposal on four_state outlives each prefix with probability 1/2, so it is kept
  // with probability 1/16 + 1/16 + 1/4. Having outlived the empty prefix it takes 1 token, and
  // another if that is a: 1/2 (1 + 1/2) tokens a proposal, 8/3 proposals an answer.
  const json rejection = answer("four_state.json --horizon 2 --power 2 --sampler exact-rejection");
  CHECK(rejection["defined"] == json{"1/6", "1/6", "2/3"});
  CHECK(rejection["kept_defined"] == "3/8");
  CHECK(rejection["decode_tokens_defined"] == "2");
  // What a run leaves open is left open here: best-of-n draws from the model itself.
  CHECK(answer("four_state.json --horizon 2 --sampler best-of-n --particles 2") ==
        answer("four_state.json --horizon 2 --sampler best-of-n --particles 2 --power 1"));
  CHECK(answer("four_state.json --horizon 2 --sampler fixed-horizon") ==
        answer("four_state.json --horizon 2 --sampler fixed-horizon --power 4"));
  const auto tokens = [](const std::string& more) {
    const json report = answer(
        "unequal_lengths.json --horizon 4 --block 4 --sampler fixed-horizon --power 6" + more);
    return std::pair(report["compiled"], rational(report["decode_tokens"]));
  };
  const auto [law, drawn] = tokens("");
  const auto [early_law, early_drawn] = tokens(" --early-rejection");
  CHECK(law == early_law);
  CHECK(early_drawn < drawn);
  const auto table = run_command(
      "law " + toy_models + "bimodal.json --sampler best-of-n --horizon 2 --power 1 --particles 2");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("the compiled sampler best-of-n") &&
                            Catch::Contains("within the bound"));
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= 100);
  const std::string four = toy_models + "four_state.json --horizon 2 ";
  const Refusal refusals[] = {
      {four + "--sampler stanard", "did you mean standard?"},
      {four + "--sampler standard --power 2", "--power: standard does not take it"},
      {four + "--sampler ppt --powers 1,2 --particles 2",
       "--particles: has no effect on the sampler ppt"},
      {four + "--sampler ppt", "--powers: is missing"},
      {four + "--sampler power-smc --power 2", "--particles: is missing"},
      {four + "--sampler ppt --powers 1,2 --output-rung 3",
       "output rung: is 3; give one of the rungs 1 to 2"},
      {four + "--sampler ppt --powers 1,2 --restart 1/2,1/2",
       "--restart: ppt does not take it; give the weights of a run, --restart-weights"},
      {four + "--sampler ppt --powers 1,2 --prefetch 1", "--prefetch: has no effect if no stage"},
      {four + "--sampler power-smc --particles 2 --early-rejection",
       "--early-rejection: has no effect on the sampler power-smc"},
      {four + "--sampler standard --restart-range record",
       "--restart-range: has no effect on the sampler standard"},
      {four + "--sampler ppt --powers 1,2 --restart-weights 0,1 --block 2", "position 1"},
      {four + "--sampler ppt --powers 1,2 --restart-weights 2,1 --block 1",
       "for the 1 positions of the first stage"},
      {four + "--sampler ppt --powers 1,2 --local-moves 0 --restart-weights 2,1 --block 2",
       "have no effect on a run without local moves"},
      {four + "--power 2 --early-rejection", "--sampler: is missing"},
      {four + "--power 2 --restart-weights 2,1", "--sampler: is missing"},
      {four + "--sampler power-smc --power 2 --particles 9", "more than 16384 joint states"},
      {four + "--power 2 --block 1", "--sampler: is missing"},
      {"--sampler ppt", "MODEL: is missing"},
  };
  for (const auto& [arguments, message] : refusals) check_refusal("law " + arguments, message);
}

TEST_CASE("the table of laws fits 100 columns and holds no line twice") {
  const auto table = run_command("law");
  CAPTURE(table.out);
  REQUIRE(table.exit_code == 0);
  std::set<std::string> rows;
  bool is_of_programs = false;
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(columns_of(line) <= 100);
    if (line.rfind("whole programs", 0) == 0) is_of_programs = true;
    if (!is_of_programs && line.rfind("  holds", 0) == 0) {
      // A restart law is told below its row, whose numbers differ from those under the uniform one.
      CHECK(rows.insert(line).second);
    }
  }
  const std::size_t laws = shipped_answer()["laws"].size();
  CHECK(rows.size() < laws);
  CHECK_THAT(table.out, Catch::Contains(std::to_string(laws) + " laws hold, 0 fail; " +
                                        std::to_string(laws - rows.size()) + " of them"));
}

TEST_CASE("the law of long records fits 100 columns") {
  const auto table = run_command("law " + toy_models + "deep_chain.json --horizon 60 --power 2");
  REQUIRE(table.exit_code == 0);
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= 100);
  CHECK_THAT(table.out, Catch::Contains("..."));
}

// A float32 logit near -0.69 errs by up to 2^-25; at power 900 that moves a probability by more
// than the bound. The table must say so, and the exit code must not be 0.
TEST_CASE("law without a model fails when a law is out of its bounds") {
  const TemporaryFolder tree;
  std::filesystem::create_directories(tree / "toy_models");
  std::ofstream(tree / "toy_models/models.json")
      << R"([{"file": "m.json", "horizon": 1, "power": 900, "powers": [900]}])";
  std::ofstream(tree / "toy_models/m.json")
      << R"({"name": "m", "vocabulary": ["a", "b"], "terminal": [],
             "default": {"a": "5001/10000", "b": "4999/10000"}})";
  const auto result = run_command("law --tree " + (tree / ".").string());
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Catch::Contains("FAILS m.json") && Catch::Contains("1 fail"));
}

TEST_CASE("a shipped use that cannot be enumerated leaves no half of a table") {
  const TemporaryFolder tree;
  std::filesystem::create_directories(tree / "toy_models");
  std::filesystem::copy_file(toy_models + "four_state.json", tree / "toy_models/four_state.json");
  std::ofstream(tree / "toy_models/models.json")
      << R"([{"file": "four_state.json", "horizon": 2, "power": 2, "powers": [1, 2]},
             {"file": "four_state.json", "horizon": 1024, "power": 2, "powers": [2]}])";
  check_refusal("law --tree " + (tree / ".").string(), "more than 1024 records");
}

TEST_CASE("a law that cannot be had ends in one line and exit code 2") {
  const TemporaryFile unequal(R"({"name": "m", "vocabulary": ["a"], "terminal": [],
                                  "default": {"a": "1/2"}})");
  const std::string four = toy_models + "four_state.json ";
  const Refusal refusals[] = {
      {"/nowhere.json --horizon 2 --power 2", "/nowhere.json: cannot be read"},
      {unequal.path() + " --horizon 2 --power 2", "sums to 1/2"},
      {four + "--horizon 0 --power 2", "--horizon: \"0\" is out of range"},
      {four + "--horizon -1 --power 2", "--horizon"},
      {four + "--horizon 1000000 --power 2", "above 1024"},
      {toy_models + "never_ends.json --horizon 15 --power 2", "more than 16384 records"},
      {four + "--horizon 200 --powers 1,2", "more than 16384 joint states"},
      {four + "--horizon 2 --power 0", "--power: the power \"0\" is out of range"},
      {four + "--horizon 2 --power 1e300", "--power: the power \"1e300\" is out of range"},
      {four + "--horizon 2 --power 1048577", "--power: the power \"1048577\" is out of range"},
      {four + "--horizon 2 --power -1", "--power: \"-1\" is not a power"},
      {four + "--horizon 2 --power nan", "--power: \"nan\" is not a power"},
      {four + "--horizon 2 --powers 2,1", "does not exceed the one before it"},
      {four + "--horizon 2 --powers 1,1", "does not exceed the one before it"},
      {four + "--horizon 2 --power 1 --powers 1,2", "--power"},
      {four + "--horizon 2", "--power"},
      {four + "--power 2", "--horizon"},
      {four + "--horizon 2 --powers 1,2 --schedule even", "--schedule"},
      {four + "--horizon 2 --power 2 --schedule deo", "--schedule: has no effect beside --power"},
      {four + "--horizon 2 --power 2 --restart 1/2", "restart"},
      {four + "--horizon 2 --power 2 --restart 1/2,1/3", "restart"},
      {four + "--horizon 2 --power 2 --restart x,y", "--restart"},
      {four + "--horizon 2 --power 2 --restart 3/2,-1/2", "restart"},
      // A chain that never restarts at 1 keeps what has ended: there is no unique law.
      {four + "--horizon 2 --power 2 --restart 0,1", "restart law: the chain does not connect"},
      {four + "--horizon 2 --power 2 --restart 0,1 --restart-range record",
       "restart law: position 1 has no weight"},
      {four + "--horizon 2 --power 2 --restart-range all", "--restart-range: \"all\" is unknown"},
      {"--restart-range record", "MODEL: is missing"},
      {four + "--horizon 2 --power 2 --other", "--other"},
      {four + "--horizon 2 --power 2 --tree .", "--tree"},
      {"--horizon 2 --power 2", "MODEL: is missing"},
      {"--schedule deo", "MODEL: is missing"},
      {"--tree /nowhere", "/nowhere/toy_models/models.json: cannot be read"},
  };
  for (const Refusal& refusal : refusals) {
    check_refusal("law " + refusal.arguments + " --json", refusal.message);
  }
}
