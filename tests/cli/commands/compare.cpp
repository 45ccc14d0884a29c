#include <nlohmann/json.hpp>
#include <sstream>

#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::compare_test {

using nlohmann::json;
using namespace tempera::test;

namespace {

const std::string worked_sum = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";

/// Few rounds, so that the test is short.
const char* const settings =
    R"({"horizon": 28, "block": 14, "powers": [1, 4], "rounds": 1, "local_moves": 1, "sweeps": 1,
        "truncating_rounds": 1, "matched_rounds": 2})";

}  // namespace

TEST_CASE("compare prints one row for each sampler, the same for the same seed") {
  const TemporaryFile quick(settings);
  const std::string arguments =
      "compare " + worked_sum + " --settings " + quick.path() + " --most 4 --seed 3 --json";
  const auto result = run_command(arguments);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  json report = json::parse(result.out);
  CHECK(report["seed"] == 3);
  REQUIRE(report["samplers"].size() == 7);
  for (json& row : report["samplers"]) {
    CHECK(row["problems"] == 4);
    const double accuracy = row["accuracy"];
    CHECK(accuracy == row["solved"].get<double>() / 4.0);
    CHECK(row["interval95"][0] <= accuracy);
    CHECK(row["interval95"][1] >= accuracy);
    CHECK(row["decode_tokens"] > 0);
    CHECK(row["unfinished"] <= 4);
    CHECK(row["seconds"] > 0.0);
    row.erase("seconds");
  }
  CHECK(report["samplers"].back()["sampler"] == "PPT, K = 2");
  json again = json::parse(run_command(arguments).out);
  for (json& row : again["samplers"]) row.erase("seconds");
  CHECK(again == report);
  const auto table =
      run_command("compare " + worked_sum + " --settings " + quick.path() + " --most 1");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("truncating power sampling"));
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
  }
}

TEST_CASE("compare takes the rotary factors that it is told to") {
  const tempera::gpu::ModelFolder folder("untied_float32");
  const std::string config =
      bytes_of(TEMPERA_SOURCE_DIR "/tests/fixtures/architectures/phi3_short/config.json");
  folder.write("config.json", config);
  {
    const json document = json::parse(config);
    tempera::gpu::FormulaTensors tensors;
    const tempera::gpu::Phi3 model(
        tempera::gpu::Phi3::configuration(tempera::JsonObject(document, "config.json")), tensors,
        tempera::gpu::default_kernels(tempera::gpu::Arithmetic::float32));
    tempera::gpu::write_safetensors(folder.path(), tensors.made());
  }
  // A prompt that just fits the 512 positions of the short factors, and answers beyond them.
  std::string prompt = "3";
  for (int i = 1; i < 509; ++i) prompt += " " + std::to_string(i % 50);
  const TemporaryFile problems(json{{"prompt", prompt}, {"answer", "1"}}.dump());
  const TemporaryFile quick(
      R"({"horizon": 6, "block": 3, "powers": [1, 4], "rounds": 1, "local_moves": 1, "sweeps": 1,
          "truncating_rounds": 1, "matched_rounds": 2})");
  const std::string arguments = "compare " + folder.path().string() + " --settings " +
                                quick.path() + " --problems " + problems.path() + " --json";
  check_refusal(arguments + " --rope-factors middling", "--rope-factors: \"middling\" is unknown");
  const auto of_short = run_command(arguments);
  CHECK(of_short.exit_code == 2);
  CHECK_THAT(of_short.err, Catch::Contains("exceed the 512 positions"));
  CHECK_THAT(of_short.err, Catch::Contains("--rope-factors long"));
  const auto of_long = run_command(arguments + " --rope-factors long");
  CAPTURE(of_long.err);
  REQUIRE(of_long.exit_code == 0);
  CHECK_THAT(of_long.err, Catch::Contains("longrope with its long factors"));
  CHECK(json::parse(of_long.out)["rope_factors"] == "long");
  check_refusal("compare " TEMPERA_SOURCE_DIR "/toy_models/bimodal.json --rope-factors long",
                "--rope-factors: is for a folder with problems");
}

TEST_CASE("what cannot be compared ends in one line and exit code 2") {
  const TemporaryFile quick(settings);
  const TemporaryFile unknown(R"({"prompt": "1+x?", "answer": "2"})");
  const TemporaryFile broken("{\"prompt\": \"1+1?\", \"answer\": \"2\"}\n{");
  const TemporaryFile falling(
      R"({"horizon": 28, "block": 14, "powers": [4, 1], "rounds": 1, "local_moves": 1, "sweeps": 1,
          "truncating_rounds": 1, "matched_rounds": 2})");
  const TemporaryFile timeless(
      R"({"horizon": 0, "block": 14, "powers": [1, 4], "rounds": 1, "local_moves": 1, "sweeps": 1,
          "truncating_rounds": 1, "matched_rounds": 2})");
  const TemporaryFile too_long(
      R"({"horizon": 60, "block": 14, "powers": [1, 4], "rounds": 1, "local_moves": 1, "sweeps": 1,
          "truncating_rounds": 1, "matched_rounds": 2})");
  const std::string sums = worked_sum + " --settings " + quick.path();
  const Refusal refusals[] = {
      {"/nowhere", "/nowhere"},
      {worked_sum + " --settings /nowhere", "/nowhere: cannot be read"},
      {worked_sum + " --settings " + falling.path(), "does not exceed"},
      {worked_sum + " --settings " + timeless.path(), "horizon: is 0"},
      {worked_sum + " --settings " + too_long.path(), "exceed the 64 positions"},
      {sums + " --problems /nowhere", "/nowhere: cannot be read"},
      {sums + " --problems " + unknown.path(), unknown.path() + ", problem 1"},
      {sums + " --problems " + broken.path(), broken.path() + ", line 2"},
      {sums + " --most x", "--most"},
      {sums + " --most 0", "--most: \"0\" is out of range"},
      {sums + " --other", "--other"},
      {"", "MODEL: is missing"},
  };
  for (const Refusal& refusal : refusals) {
    for (const char* form : {"", " --json"})
      check_refusal("compare " + refusal.arguments + form, refusal.message);
  }
}

}  // namespace tempera::compare_test
