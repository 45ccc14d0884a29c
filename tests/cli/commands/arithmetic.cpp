// --arithmetic of sample, score and compare.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera::test;

namespace {

const std::string worked_sum = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
const std::string four_state = TEMPERA_SOURCE_DIR "/toy_models/four_state.json";
const std::string quick = "sample '3+9+2+1+7+2+3+3?' --model " + worked_sum +
                          " --horizon 12 --block 4 --rounds 2 --powers 1,2 --seed 5 --samples 3 ";

std::string output_of(const std::string& arguments) {
  const auto result = run_command(arguments);
  CAPTURE(arguments, result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}

json json_of(const std::string& arguments) { return json::parse(output_of(arguments + " --json")); }

/// Rewrites a JSON file.
template <class Edit>
void edit_json(const std::string& file, const Edit& edit) {
  json document = json::parse(bytes_of(file));
  edit(document);
  std::ofstream(file) << document.dump();
}

}  // namespace

TEST_CASE("a run names its arithmetic, float32 unless another is asked for") {
  const json without = json_of(quick);
  CHECK(without["settings"]["arithmetic"] == "float32");
  CHECK(json_of(quick + "--arithmetic float32") == without);
  for (const std::string name :
       {"tensor-core", "tensor-core-ampere", "bfloat16-pairs", "integer"}) {
    const json with = json_of(quick + "--arithmetic " + name);
    CHECK(with["settings"]["arithmetic"] == name);
    // Another arithmetic, another log p0 of whatever was drawn.
    CHECK(with["answers"] != without["answers"]);
    CHECK(json_of(quick + "--arithmetic " + name) == with);
  }
}

TEST_CASE("a run folder keeps its arithmetic, and is resumed under no other") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const std::string name =
      GENERATE("tensor-core", "tensor-core-ampere", "bfloat16-pairs", "integer");
  const std::string answers = output_of(quick + "--arithmetic " + name + " --out " + run);
  CHECK(json::parse(bytes_of(run + "/config.json"))["arithmetic"] == name);
  CHECK(output_of("sample --resume " + run) == answers);
  check_refusal("sample --resume " + run + " --arithmetic float32",
                "--arithmetic: has no effect beside --resume");
  edit_json(run + "/config.json", [](json& config) { config["arithmetic"] = "float32"; });
  check_refusal("sample --resume " + run, run);
}

TEST_CASE("a folder of an older version goes on in float32") {
  // Before its first checkpoint nothing seals config.json: what is left of a run that was killed at
  // once.
  const TemporaryFolder folder;
  const auto begun = [&](const std::string& name, const auto& edit) {
    const std::string run = (folder / name).string();
    output_of(quick + "--out " + run);
    for (const char* file : {"checkpoint", "summary.json"})
      std::filesystem::remove(run + "/" + file);
    for (const char* file : {"events.jsonl", "samples.jsonl"}) std::ofstream(run + "/" + file);
    edit_json(run + "/config.json", edit);
    return run;
  };
  const std::string old = begun("old", [](json& config) { config.erase("arithmetic"); });
  CHECK(output_of("sample --resume " + old) == output_of(quick));
  const std::string unknown = begun("unknown", [](json& config) { config["arithmetic"] = "half"; });
  check_refusal("sample --resume " + unknown,
                "key \"arithmetic\" is \"half\", which this version does not know");
}

TEST_CASE("score computes in the arithmetic that is asked for") {
  const std::string text = "score --model " + worked_sum + " --text '4+7+9?' --powers 1,2 ";
  const json float32 = json_of(text);
  CHECK(json_of(text + "--arithmetic float32") == float32);
  for (const std::string name :
       {"tensor-core", "tensor-core-ampere", "bfloat16-pairs", "integer"}) {
    const json other = json_of(text + "--arithmetic " + name);
    CHECK(other["log_p"] != float32["log_p"]);
    for (std::size_t i = 0; i < float32["log_p"].size(); ++i) {
      const double difference = other["log_p"][i].get<double>() - float32["log_p"][i].get<double>();
      CHECK(std::abs(difference) < 0.5);
    }
  }
}

TEST_CASE("an arithmetic that cannot be had is refused in one line") {
  check_refusal(quick + "--arithmetic bfloat16", "--arithmetic: \"bfloat16\" is unknown");
  check_refusal(quick + "--arithmetic ''", "--arithmetic");
  for (const char* name :
       {"float32", "tensor-core", "tensor-core-ampere", "bfloat16-pairs", "integer"}) {
    const std::string option = std::string(" --arithmetic ") + name;
    check_refusal("sample --model " + four_state + " --horizon 3" + option,
                  "is a finite model, whose logits are given");
    check_refusal("score --model " + four_state + " --text 'a a e'" + option,
                  "is a finite model, whose logits are given");
  }
  CHECK_FALSE(json_of("sample '' --model " + four_state + " --horizon 3")["settings"].contains(
      "arithmetic"));
}
