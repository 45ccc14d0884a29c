// The horizons of prompts after which less fits than T, as the command resolves them.
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::prompt_horizons_test {

using nlohmann::json;
using namespace tempera::test;
using tempera::gpu::ModelFolder;

namespace {

const std::string worked_sum = "--model " TEMPERA_SOURCE_DIR "/toy_models/worked_sum ";
const std::string sum = "'3+9+2+1+7+2+3+3?' ";

/// A model of 80 positions that takes and prints the numbers of tokens.
class Model80 {
 public:
  Model80() {
    folder_.edit_json("config.json", [](json& config) { config["max_position_embeddings"] = 80; });
  }
  std::string option() const { return "--model " + folder_.path().string() + " "; }

 private:
  ModelFolder folder_{"untied_float32"};
};

/// A line of a file of prompts: so many tokens.
std::string prompt_line(const std::string& id, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += std::to_string((i * i + 5 * i) % 47 + 1) + " ";
  return json{{"id", id}, {"prompt", text}}.dump() + "\n";
}

const std::string short_line = prompt_line("short", 5);
const std::string long_line = prompt_line("long", 60);

CommandResult drawn(const std::string& arguments, const std::string& prompts) {
  const CommandResult result = run_command("sample --prompts - " + arguments, prompts);
  CAPTURE(arguments, result.err);
  REQUIRE(result.exit_code == 0);
  return result;
}

/// All that a run folder holds of each prompt, by its id.
std::map<std::string, std::string> left_of_each(const std::string& folder) {
  std::map<std::string, std::string> left;
  for (const char* file : {"/events.jsonl", "/samples.jsonl", "/prompt_reports.jsonl"}) {
    std::istringstream lines(bytes_of(folder + file));
    for (std::string line; std::getline(lines, line);) left[json::parse(line)["id"]] += line + "\n";
  }
  return left;
}

/// The longest record that the rounds of a prompt tell.
std::size_t longest_record(const std::string& lines) {
  std::size_t longest = 0;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const json event = json::parse(line);
    if (event.value("kind", "") != "round") continue;
    for (const json& length : event["lengths"])
      longest = std::max(longest, length.get<std::size_t>());
  }
  return longest;
}

}  // namespace

TEST_CASE("what is drawn of a prompt does not depend on how long the prompts beside it are") {
  const Model80 model;
  const TemporaryFolder folder;
  const std::string rest = model.option() + "--powers 1,1.5,2.5 --rounds 2 --samples 2 --seed 4 ";
  const auto run = [&](const std::string& name, const std::string& prompts,
                       const std::string& more = "") {
    const std::string out = (folder / name).string();
    drawn(rest + more + "--out " + out, prompts);
    return left_of_each(out);
  };
  auto together = run("together", short_line + long_line);
  CHECK(together.size() == 2);
  CHECK(run("alone", short_line)["short"] == together["short"]);
  CHECK(run("long", long_line)["long"] == together["long"]);
  CHECK(run("reversed", long_line + short_line) == together);
  CHECK(run("ahead", long_line + short_line, "--prefetch 3 --batch 5 ") == together);
  // The short prompt has T = 64, the long one what fits after it, in stages of 16 tokens too.
  CHECK(longest_record(together["short"]) > 20);
  CHECK(longest_record(together["long"]) == 20);
  CHECK_THAT(together["long"],
             Catch::Contains("\"stage\":2,\"round\":2") && !Catch::Contains("\"stage\":3"));
  CHECK_THAT(together["short"], Catch::Contains("\"stage\":4,\"round\":2"));
  CHECK(run("given", long_line, "--horizon 20 --block 16 ")["long"] == together["long"]);
}

TEST_CASE("a horizon of a prompt's own is in config.json, and a run goes on with it") {
  const Model80 model;
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const std::string rest = model.option() + "--powers 1,1.5,2.5 --rounds 2 --block 32 ";
  const CommandResult first = drawn(rest + "--out " + run, short_line + long_line);
  CHECK(first.err ==
        "tempera: prompt \"long\": T is 20 and not 64: no more fits after it in the model's "
        "positions\n");
  const json config = json::parse(bytes_of(run + "/config.json"));
  CHECK(config["horizon"] == 64);
  CHECK(config["block"] == 32);
  CHECK_FALSE(config["prompts"][0].contains("horizon"));
  CHECK(config["prompts"][1]["horizon"] == 20);
  std::map<std::string, std::string> whole;
  const std::vector<std::string> files{"/config.json", "/events.jsonl", "/samples.jsonl",
                                       "/summary.json", "/prompt_reports.jsonl"};
  for (const std::string& file : files) whole[file] = bytes_of(run + file);
  // Killed between the last checkpoint and the summary, and with it before any checkpoint.
  std::filesystem::remove(run + "/summary.json");
  std::filesystem::remove(run + "/checkpoint");
  const CommandResult resumed = run_command("sample --resume " + run);
  CAPTURE(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(resumed.err.empty());
  CHECK(resumed.out == first.out);
  for (const std::string& file : files) CHECK(bytes_of(run + file) == whole[file]);
  // If nothing is cut, nothing is said and config.json is as it always was.
  const std::string plain = (folder / "plain").string();
  CHECK(drawn(rest + "--out " + plain, short_line).err.empty());
  CHECK(json::parse(bytes_of(plain + "/config.json"))["prompts"][0].size() == 2);
}

TEST_CASE("the default horizon is 64, or what fits after the prompt") {
  const CommandResult cut =
      run_command("sample " + worked_sum + sum + "--rounds 0 --json --powers 1,2");
  CHECK(cut.exit_code == 0);
  CHECK(cut.err ==
        "tempera: prompt: T is 48 and not 64: no more fits after it in the model's positions\n");
  const json small = json::parse(cut.out)["settings"];
  CHECK(small["horizon"] == 64);
  CHECK(small["block"] == 16);
  CHECK(small["prompt_horizon"] == 48);
  const CommandResult whole = run_command("sample --model " TEMPERA_SOURCE_DIR
                                          "/toy_models/four_state.json a --rounds 0 --json");
  CHECK(whole.err.empty());
  const json large = json::parse(whole.out)["settings"];
  CHECK(large["horizon"] == 64);
  CHECK_FALSE(large.contains("prompt_horizon"));
}

TEST_CASE("a preset's horizon leaves 64 tokens free where the model's positions cut it") {
  const ModelFolder folder("untied_float32");
  folder.edit_json("config.json", [](json& config) { config["max_position_embeddings"] = 100; });
  const std::string rest =
      "--model " + folder.path().string() + " --preset qwen3/math500 --rounds 0 ";
  const CommandResult cut = drawn(rest + "--json", prompt_line("a", 30));
  CHECK(cut.err ==
        "tempera: prompt \"a\": T is 6 and not 8192: no more fits after it in the model's "
        "positions but for the 64 that a preset leaves free\n");
  const json settings = json::parse(cut.out)["settings"];
  CHECK(settings["horizon"] == 8192);
  CHECK(settings["block"] == 4096);
  CHECK(settings["prompts"][0]["horizon"] == 6);
  // An explicit horizon is not cut, with a preset or without.
  CHECK(drawn(rest + "--horizon 70", prompt_line("a", 30)).err.empty());
  const TemporaryFile prompts(prompt_line("a", 30) + prompt_line("b", 36));
  check_refusal("sample " + rest + "--prompts " + prompts.path(),
                prompts.path() +
                    ", line 2: 36 prompt tokens, 64 to leave free and a horizon of 1 "
                    "exceed the 100 positions of the model; shorten the prompt or "
                    "give a horizon");
  check_refusal("sample " + rest + "--horizon 70 --prompts " + prompts.path(),
                prompts.path() +
                    ", line 2: 36 prompt tokens and a horizon of 70 exceed the 100 "
                    "positions of the model");
}

TEST_CASE("a prompt that leaves no room is refused by its name, whatever is beside it") {
  const Model80 model;
  const TemporaryFile prompts(short_line + prompt_line("full", 80));
  check_refusal("sample " + model.option() + "--prompts " + prompts.path(),
                prompts.path() +
                    ", line 2: 80 prompt tokens and a horizon of 1 exceed the 80 "
                    "positions of the model; shorten the prompt");
  check_refusal(
      "ladder " + model.option() + "--from 1 --to 2 --replicas 3 --prompts " + prompts.path(),
      prompts.path() +
          ", line 2: 80 prompt tokens and a horizon of 1 exceed the 80 "
          "positions of the model; shorten the prompt");
  // One token of room is a horizon.
  CHECK_THAT(drawn(model.option() + "--rounds 0", prompt_line("last", 79)).err,
             Catch::Contains("prompt \"last\": T is 1 and not 64"));
}

TEST_CASE("restart weights that a prompt's first stage has no positions for are refused") {
  const Model80 model;
  const TemporaryFile prompts(short_line + prompt_line("narrow", 77));
  const std::string asked =
      "sample " + model.option() + "--powers 1,2 --rounds 1 --prompts " + prompts.path();
  check_refusal(asked + " --restart-weights 4,3,2,1",
                "prompt \"narrow\": restart weights are 4 for the 3 positions of its first stage");
  CHECK(run_command(asked + " --restart-weights 3,2,1").exit_code == 0);
}

TEST_CASE("a pilot of a short prompt does not depend on a long one beside it") {
  const Model80 model;
  const std::string rest =
      "--from 1 --to 2 --replicas 3 --rounds 4 --pilots 1 --samples 2 --block 20 --json " +
      model.option();
  const auto ladder = [&](const std::string& prompts, const std::string& more = "") {
    const TemporaryFile file(prompts);
    const CommandResult result = run_command("ladder " + rest + more + "--prompts " + file.path());
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return std::pair(json::parse(result.out)["pilots"][0], result.err);
  };
  const auto [both, said] = ladder(short_line + long_line);
  const auto [of_short, nothing] = ladder(short_line);
  const auto [of_long, cut] = ladder(long_line, "--horizon 20 ");
  CHECK(said ==
        "tempera: prompt \"long\": T is 20 and not 64: no more fits after it in the model's "
        "positions\n");
  CHECK(nothing.empty());
  CHECK(cut.empty());
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(both["deviations"][k].get<double>() == Approx((of_short["deviations"][k].get<double>() +
                                                         of_long["deviations"][k].get<double>()) /
                                                        2.0));
  for (const char* counts : {"attempts", "accepted", "restarts", "changes"})
    for (std::size_t i = 0; i < both[counts].size(); ++i) {
      CAPTURE(counts, i);
      CHECK(both[counts][i] ==
            of_short[counts][i].get<std::size_t>() + of_long[counts][i].get<std::size_t>());
    }
}

}  // namespace tempera::prompt_horizons_test
