#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using namespace tempera::test;

namespace {

const std::string toy_models = TEMPERA_SOURCE_DIR "/toy_models/";
const std::string four_state = "--model " + toy_models + "four_state.json ";

/// Runs the built command, and ends it after a while if it waits: then the exit code is 124.
CommandResult run_for_a_while(const std::string& arguments, const std::string& before = "") {
  const TemporaryFile out(""), err("");
  const std::string line = before + "timeout 600 " TEMPERA_BINARY " " + arguments + " >" +
                           out.path() + " 2>" + err.path() + " </dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, bytes_of(out.path()), bytes_of(err.path())};
}

void check_refused_at_once(const std::string& arguments, const std::string& name,
                           const std::string& what) {
  const CommandResult result = run_for_a_while(arguments);
  CAPTURE(arguments, result.exit_code, result.out, result.err);
  CHECK(is_refusal(result));
  CHECK_THAT(result.err, Catch::Contains(name + ": is a " + what));
}

}  // namespace

TEST_CASE("a pipe or a device as an input is refused at once by its name") {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const auto& [name, what] :
       {std::pair<std::string, std::string>{pipe, "pipe"}, {"/dev/zero", "device"}}) {
    check_refused_at_once("sample --prompt-file " + name + " " + four_state, name, what);
    check_refused_at_once("sample --prompts " + name + " " + four_state, name, what);
    check_refused_at_once("sample --model " + name, name, what);
    check_refused_at_once("exact " + name + " --horizon 2 --power 2", name, what);
    check_refused_at_once("law " + name + " --horizon 2 --power 2", name, what);
    check_refused_at_once("certify " + name + " --horizon 2 --power 2", name, what);
    check_refused_at_once("check --program true --target " + name, name, what);
    check_refused_at_once("check --program true --model " + name, name, what);
    check_refused_at_once("score --tokens 1 --powers 1 --model " + name, name, what);
    check_refused_at_once("tokens a --model " + name, name, what);
    check_refused_at_once("chat --model " + name, name, what);
    check_refused_at_once("bench host --model " + name, name, what);
    check_refused_at_once("serve --port 0 --model " + name, name, what);
    check_refused_at_once("serve --port 0 --api-key-file " + name + " " + four_state, name, what);
    check_refused_at_once(
        "ladder --from 1 --to 2 --replicas 2 --prompts " + name + " " + four_state, name, what);
    const std::string worked_sum = toy_models + "worked_sum ";
    check_refused_at_once("sample --messages " + name + " --model " + worked_sum, name, what);
    check_refused_at_once("tokens --messages " + name + " --model " + worked_sum, name, what);
  }
}

TEST_CASE("a pipe or a device in the place of a folder is refused at once by its name") {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const auto& [name, what] :
       {std::pair<std::string, std::string>{pipe, "pipe"}, {"/dev/zero", "device"}}) {
    const std::string no_folder = what + ", and no folder; give the name of a folder";
    check_refused_at_once("plot " + name, name, no_folder);
    check_refused_at_once("sample --resume " + name, name, no_folder);
    check_refused_at_once("merge " + name, name, no_folder);
    check_refused_at_once("gallery --tree " + name, name, no_folder);
    check_refused_at_once("sample --out " + name + " " + four_state, name, no_folder);
    check_refused_at_once("serve --port 0 --batch-folder " + name + " " + four_state, name,
                          no_folder);
  }
}

TEST_CASE("a pipe or a device in a model's or a run's folder is refused at once by its name") {
  const TemporaryFolder folder;
  const std::string model = (folder / "model").string();
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"}) {
    std::filesystem::remove_all(model);
    std::filesystem::copy(toy_models + "worked_sum", model);
    std::filesystem::remove(model + "/" + name);
    REQUIRE(::mkfifo((model + "/" + name).c_str(), 0600) == 0);
    check_refused_at_once("sample '4?' --model " + model, model + "/" + name, "pipe");
    std::filesystem::remove(model + "/" + name);
    std::filesystem::create_symlink("/dev/zero", model + "/" + name);
    check_refused_at_once("sample '4?' --model " + model, model + "/" + name, "device");
  }
  const std::string run = (folder / "run").string();
  for (const char* name : {"config.json", "checkpoint", "events.jsonl", "samples.jsonl",
                           "summary.json", "speed.json"}) {
    std::filesystem::remove_all(run);
    REQUIRE(run_command("sample " + four_state + "--horizon 2 --out " + run).exit_code == 0);
    std::filesystem::remove(run + "/" + name);
    REQUIRE(::mkfifo((run + "/" + name).c_str(), 0600) == 0);
    check_refused_at_once("sample --resume " + run, run + "/" + name, "pipe");
    if (std::string(name) != "checkpoint" && std::string(name) != "samples.jsonl")
      check_refused_at_once("plot " + run + " --csv " + (folder / "csv").string(), run + "/" + name,
                            "pipe");
  }
}

TEST_CASE("the command says that a damaged speed.json is left out, and goes on") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const CommandResult whole =
      run_command("sample " + four_state + "--horizon 2 --samples 3 --out " + run);
  std::ofstream(run + "/speed.json") << "{\"seconds\"";
  const CommandResult again = run_command("sample --resume " + run);
  CHECK(again.exit_code == 0);
  CHECK(again.out == whole.out);
  CHECK_THAT(again.err, Catch::Contains(run + "/speed.json") && Catch::Contains("left out"));
  CHECK(run_command("plot " + run + " --csv " + (folder / "csv").string()).exit_code == 0);
}

TEST_CASE("memory or threads that run out while a run is resumed are one line and exit code 2") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  // Killed once it has a checkpoint and rounds after it.
  const std::string first =
      TEMPERA_BINARY " sample '4+7+9+3?' --model " + toy_models +
      "worked_sum --horizon 28 --samples 800 --threads 2 --checkpoint-seconds 0.05 --out " + run +
      " >/dev/null 2>&1 & child=$!; for i in $(seq 60000); do sleep 0.01; test -e " + run +
      "/checkpoint && break; done; kill -9 $child; wait $child 2>/dev/null";
  static_cast<void>(std::system(first.c_str()));
  REQUIRE(std::filesystem::exists(run + "/checkpoint"));
  std::size_t refused = 0;
  std::size_t complete = 0;
  // Whether the loader, which says so by 127, found the memory for what it loads.
  const auto begins = [&](int kibibytes) {
    const std::string copy = (folder / "copy").string();
    std::filesystem::remove_all(copy);
    std::filesystem::copy(run, copy);
    const CommandResult result = run_for_a_while("sample --resume " + copy + " --threads 2",
                                                 "ulimit -v " + std::to_string(kibibytes) + "; ");
    if (result.exit_code == 127) return false;
    if (result.exit_code == 0) {
      ++complete;
      return true;
    }
    CAPTURE(kibibytes, result.exit_code, result.err);
    CHECK(result.exit_code == 2);
    // Before it there may be the line that says how many samples the memory holds.
    std::string error = result.err;
    if (error.find(" are under way at once: ") < error.find('\n'))
      error.erase(0, error.find('\n') + 1);
    CHECK(std::count(error.begin(), error.end(), '\n') == 1);
    CHECK(error.starts_with("tempera: "));
    ++refused;
    return true;
  };
  int too_few = 1000;
  int enough = 63000;
  // Up to two that are enough for the whole run: with more memory it only takes its time again.
  for (int kibibytes = 15000; kibibytes <= 63000 && complete < 2; kibibytes += 1500) {
    if (begins(kibibytes)) {
      enough = std::min(enough, kibibytes);
    } else {
      too_few = std::max(too_few, kibibytes);
    }
  }
  CHECK(complete == 2);
  // What is made before main takes some 80 KiB.
  while (enough - too_few > 20) {
    const int middle = (too_few + enough) / 2;
    (begins(middle) ? enough : too_few) = middle;
  }
  for (int more = 0; more < 160; more += 20) CHECK(begins(enough + more));
  // The eight limits of the line above are enough for the loader and not for a run.
  CHECK(refused >= 8);
}
