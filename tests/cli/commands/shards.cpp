#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"

namespace tempera::test {
namespace {

namespace fs = std::filesystem;

const std::string sums = R"({"id": "a", "prompt": "4+7?"}
{"id": "b", "prompt": "3+9+2?"}
{"id": "c", "prompt": "8+1?"}
)";

/// The options of one run of sums.
std::string drawn(const TemporaryFile& prompts) {
  return "sample --prompts " + prompts.path() +
         " --model " TEMPERA_SOURCE_DIR
         "/toy_models/worked_sum --powers 1,3 --horizon 12 --rounds 1 --samples 2 --seed 3";
}

/// All bytes of a folder's files but speed.json, which is measured.
std::map<std::string, std::string> bytes_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != "speed.json")
      files[entry.path().filename()] = bytes_of(entry.path());
  return files;
}

}  // namespace

TEST_CASE("two shards and their merge are the single run") {
  const TemporaryFile prompts(sums);
  const TemporaryFolder work;
  // A folder that a shell takes for two words, but for the quotes.
  const std::string run = "'" + (work / "a run").string() + "'";
  REQUIRE(run_command(drawn(prompts) + " --out " + (work / "whole").string()).exit_code == 0);
  const CommandResult first = run_command(drawn(prompts) + " --out " + run + " --shard 1/2");
  REQUIRE(first.exit_code == 0);
  CHECK(first.err.empty());
  CHECK(std::count(first.out.begin(), first.out.end(), '\n') == 3);
  // What is missing is named with the command that makes it, and the command does.
  const CommandResult early = run_command("merge " + run);
  CHECK(is_refusal(early));
  const std::string command = "sample --resume " + run + " --shard 2/2";
  CHECK(early.err.find("shard 2 is missing; make the first with: tempera " + command) !=
        std::string::npos);
  REQUIRE(run_command(command).exit_code == 0);
  const CommandResult merged = run_command("merge " + run + "/ --json");
  REQUIRE(merged.exit_code == 0);
  const auto json = nlohmann::json::parse(merged.out);
  CHECK(json["answers"] == 6);
  CHECK(json["shards"] == 2);
  CHECK(json["was_there"] == false);
  CHECK(bytes_in(work / "a run/merged") == bytes_in(work / "whole"));
  CHECK(run_command("merge " + run).out.find("were already in") != std::string::npos);

  // The same command again prints what is there; so does --resume of the shard's folder. Neither
  // writes: the disk may be read-only.
  const auto written = [&] {
    return std::pair(bytes_in(work / "a run/claims"), bytes_in(work / "a run/shard-1-of-2"));
  };
  const auto before = written();
  CHECK(run_command(drawn(prompts) + " --out " + run + " --shard 1/2").out == first.out);
  CHECK(run_command("sample --resume " + run + "/shard-1-of-2").out == first.out);
  CHECK(written() == before);
  const CommandResult other =
      run_command(drawn(prompts) + " --block 2 --out " + run + " --shard 1/2");
  CHECK(is_refusal(other));
  CHECK(other.err.find("key \"block\" is 2, but 3 in") != std::string::npos);
}

TEST_CASE("a launcher says which shard a command draws, unless a flag does") {
  const TemporaryFile prompts(sums);
  const TemporaryFolder work;
  const std::string run = work / "run";
  const std::string array =
      "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=4 ";
  const std::string command = std::string(TEMPERA_BINARY) + " " + drawn(prompts);
  const auto with = [&](const std::string& more) {
    return run_program("env " + array + command, more);
  };
  const CommandResult said = with("--out " + run);
  REQUIRE(said.exit_code == 0);
  CHECK(said.err ==
        "tempera: draws shard 2/2 into " + run +
            " (SLURM_ARRAY_TASK_ID=5, SLURM_ARRAY_TASK_COUNT=2); --shard says otherwise\n");
  CHECK(fs::exists(run + "/shard-2-of-2/summary.json"));
  const CommandResult flag = with("--shard 1/2 --out " + run);
  REQUIRE(flag.exit_code == 0);
  CHECK(flag.err.empty());
  CHECK(fs::exists(run + "/shard-1-of-2/summary.json"));
  // Without a folder, or with none said, the run is whole.
  CHECK(with("").err.empty());
  REQUIRE(with("--shard none --out " + (work / "whole").string()).exit_code == 0);
  CHECK(fs::exists(work / "whole/summary.json"));
}

TEST_CASE("shards that map packed weights are the shards that pack them") {
  const TemporaryFile prompts(sums);
  const TemporaryFolder work;
  const std::string packed = " --packed-weights " + (work / "packed").string();
  const auto draw = [&](const std::string& name, const std::string& more) {
    return run_command(drawn(prompts) + " --shard 1/2 --out " + (work / name).string() + more);
  };
  const CommandResult plain = draw("plain", "");
  const CommandResult first = draw("first", packed);
  const CommandResult second = draw("second", packed);
  REQUIRE(plain.exit_code == 0);
  CHECK(plain.err.empty());  // so small a model is packed in memory
  CHECK(first.err.find("tempera: keeps packed weights in " + (work / "packed").string()) == 0);
  CHECK(second.err.empty());
  CHECK(draw("none", " --packed-weights none").err.empty());
  for (const char* name : {"first", "second", "none"})
    CHECK(bytes_in(work / name / "shard-1-of-2") == bytes_in(work / "plain" / "shard-1-of-2"));
  CHECK(run_command("sample --resume " + (work / "first/shard-1-of-2").string() + packed).out ==
        plain.out);
}

TEST_CASE("shards that make no sense are refused in one line") {
  const TemporaryFile prompts(sums);
  const TemporaryFolder work;
  const std::string run = work / "run";
  check_refusal(drawn(prompts) + " --shard 1/2", "--shard: has no effect without --out");
  check_refusal(drawn(prompts) + " --shard 3/2 --out " + run, "give I/N with I from 1 to N");
  CHECK_FALSE(fs::exists(run));
  check_refusal("merge " + run, "holds no shard");
  check_refusal("merge ''", "RUN: \"\" is empty; give the folder of the shards");
  REQUIRE(run_command(drawn(prompts) + " --shard 1/2 --out " + run).exit_code == 0);
  check_refusal(drawn(prompts) + " --shard 1/3 --out " + run,
                "was dealt to 2 shards, and not to 3");
  check_refusal("sample --resume " + run, "say which to resume");
  REQUIRE(run_command(drawn(prompts) + " --out " + (work / "whole").string()).exit_code == 0);
  check_refusal("sample --resume " + (work / "whole").string() + " --shard 1/2", "holds no shard");
}

}  // namespace tempera::test
