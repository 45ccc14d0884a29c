#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/gpu/transformer/architectures/model_folder.hpp"

using nlohmann::json;
using namespace tempera::test;
using tempera::gpu::ModelFolder;

namespace {

const std::string worked_sum = "--model " TEMPERA_SOURCE_DIR "/toy_models/worked_sum ";
const std::string toy_models = "--model " TEMPERA_SOURCE_DIR "/toy_models/";
const std::string sum = "'3+9+2+1+7+2+3+3?' ";
const std::string quick = "--horizon 6 --block 3 --rounds 1 --powers 1,2 --seed 5 ";

CommandResult sample(const std::string& arguments, const std::string& input = "") {
  auto result = run_command("sample " + arguments, input);
  CAPTURE(arguments, result.err);
  CHECK(result.exit_code == 0);
  // A pipe is no terminal: no progress line.
  CHECK(result.err.empty());
  return result;
}

/// Starts the built command with its output thrown away.
pid_t start(std::vector<std::string> arguments) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
  execv(argv[0], argv.data());
  _exit(127);
}

/// Kills the process after this time. Returns whether it was still running.
bool kill_after(pid_t child, double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

}  // namespace

TEST_CASE("sample answers a prompt from argument, file or standard input alike") {
  const std::string rest = worked_sum + quick;
  const std::string from_argument = sample(rest + sum).out;
  CHECK(std::count(from_argument.begin(), from_argument.end(), '\n') == 1);
  CHECK_THAT(from_argument, !Catch::Contains("<|end|>"));
  const TemporaryFile prompt("3+9+2+1+7+2+3+3?\n");
  CHECK(sample(rest + "--prompt-file " + prompt.path()).out == from_argument);
  CHECK(sample(rest, "3+9+2+1+7+2+3+3?\n").out == from_argument);
  CHECK(sample(rest, "3+9+2+1+7+2+3+3?").out == from_argument);
}

TEST_CASE("sample --json prints settings, answers and summary") {
  const json report = json::parse(sample(worked_sum + quick + sum + "--samples 3 --json").out);
  CHECK(report.size() == 3);
  const json& settings = report["settings"];
  CHECK(settings["horizon"] == 6);
  CHECK(settings["block"] == 3);
  CHECK(settings["powers"] == json{1.0, 2.0});
  CHECK(settings["output_rung"] == 2);
  CHECK(settings["schedule"] == "adj");
  CHECK(settings["seed"] == 5);
  CHECK(settings["prompt"].size() == 16);
  CHECK(settings["terminal"] == json{0});
  REQUIRE(report["answers"].size() == 3);
  for (const json& answer : report["answers"]) {
    CHECK(answer.size() == 4);
    CHECK(answer["tokens"].size() <= 6);
    CHECK(answer["log_p0"].get<double>() < 0.0);
    CHECK(answer["terminated"] == (answer["tokens"].back() == 0));
  }
  CHECK(report["summary"]["samples"] == 3);
  CHECK(report["summary"]["rungs"].size() == 2);
}

TEST_CASE("the seed decides the answers, and the first does not depend on how many there are") {
  const std::string rest = worked_sum + sum + "--horizon 10 --rounds 1 --powers 1,2 ";
  const std::string four = sample(rest + "--samples 4 --seed 5").out;
  CHECK(std::count(four.begin(), four.end(), '\n') == 4);
  CHECK(sample(rest + "--samples 4 --seed 5").out == four);
  CHECK(sample(rest + "--samples 4 --seed 6").out != four);
  CHECK(sample(rest + "--seed 5").out == four.substr(0, four.find('\n') + 1));
}

TEST_CASE("a finite model answers the empty prompt in its own tokens") {
  const auto answer = sample(toy_models + "four_state.json --horizon 3 --samples 20");
  CHECK(std::count(answer.out.begin(), answer.out.end(), '\n') == 20);
  CHECK(answer.out.find_first_not_of("a \n") == std::string::npos);
}

TEST_CASE("sample --out makes a run folder, and --resume prints the answers again") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const auto first = sample(worked_sum + quick + sum + "--samples 2 --out " + run);
  const std::string events = bytes_of(run + "/events.jsonl");
  CHECK_FALSE(events.empty());
  CHECK(sample("--resume " + run).out == first.out);
  CHECK(bytes_of(run + "/events.jsonl") == events);
  CHECK(json::parse(bytes_of(run + "/config.json"))["samples"] == 2);
  check_refusal("sample " + worked_sum + quick + sum + "--out " + run, run + ": exists already");
  CHECK(bytes_of(run + "/events.jsonl") == events);
}

// The moments are pinned as shares of an uninterrupted run's time. That a kill really struck is
// checked for the run as a whole: one that comes too late only resumes a finished run.
TEST_CASE("a run that is really killed is taken up to the same bytes") {
  const TemporaryFolder folder;
  const std::string model = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
  const auto command = [&](const std::string& run) {
    return std::vector<std::string>{
        TEMPERA_BINARY, "sample", "--model",  model, "--samples",       "6",
        "--horizon",    "24",     "--rounds", "2",   "--powers",        "1,2",
        "--seed",       "9",      "--out",    run,   "3+9+2+1+7+2+3+3?"};
  };
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  waitpid(start(command((folder / "whole").string())), &status, 0);
  REQUIRE(status == 0);
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  std::mt19937 moments(12);
  std::size_t struck = 0;
  for (int run = 0; run < 5; ++run) {
    const std::string path = (folder / ("run" + std::to_string(run))).string();
    const auto share = [&] { return static_cast<double>(moments() % 1000U) / 1000.0; };
    if (kill_after(start(command(path)), share() * whole.count())) ++struck;
    // Killed before there was a folder: there is nothing to resume, and none half-made.
    if (!std::filesystem::exists(path)) {
      waitpid(start(command(path)), &status, 0);
      REQUIRE(status == 0);
    }
    if (kill_after(start({TEMPERA_BINARY, "sample", "--resume", path}),
                   share() * whole.count() / 2.0))
      ++struck;
    const auto resumed = run_command("sample --resume " + path);
    CAPTURE(resumed.err);
    REQUIRE(resumed.exit_code == 0);
    for (const char* name : {"/config.json", "/events.jsonl", "/samples.jsonl", "/summary.json"}) {
      CAPTURE(run, name);
      CHECK(bytes_of(path + name) == bytes_of((folder / "whole").string() + name));
      CHECK_FALSE(bytes_of(path + name).empty());
    }
  }
  CHECK(struck > 0);
}

TEST_CASE("a wrong model, prompt or flag ends in one line and exit code 2, nothing written") {
  const TemporaryFolder folder;
  const std::string four = toy_models + "four_state.json ";
  const Refusal refusals[] = {
      {worked_sum + "3+x?", "prompt: "},
      {worked_sum + "\"$(printf '3+\\377')\"", "prompt: byte 2 is not UTF-8"},
      {worked_sum + "''", "prompt: the prompt has no token"},
      {worked_sum, "standard input: the prompt has no token"},
      {worked_sum + "--prompt-file /nowhere", "/nowhere: cannot be read"},
      {worked_sum + sum + "--prompt-file /nowhere", "--prompt-file"},
      {worked_sum + sum + "--horizon 49", "prompt: 16 prompt tokens and a horizon of 49 exceed"},
      {four + "'a z'", "prompt: 'z' is no token"},
      {four + "'a e'", "prompt: token 2 of the prompt is the terminal 'e'"},
      {four + "a --powers 2,1", "powers, rung 2"},
      {four + "a --powers 1,1", "powers, rung 2"},
      {four + "a --powers 0,1", "powers, rung 1: the power is 0"},
      {four + "a --powers -1", "powers, rung 1: the power is -1"},
      {four + "a --powers nan", "powers, rung 1: the power is nan"},
      {four + "a --powers inf", "powers, rung 1: the power is inf"},
      {four + "a --powers x", "--powers"},
      {four + "a --horizon 0", "horizon: is 0"},
      {four + "a --horizon -3", "--horizon"},
      {four + "a --horizon 1048577", "horizon: is 1048577"},
      {four + "a --block -1", "--block"},
      {four + "a --rounds -1", "--rounds"},
      {four + "a --rounds 16777217", "rounds: the run has more than 2^24"},
      {four + "a --rounds 1,2,3", "rounds: 3 numbers for 4 stages"},
      {four + "a --samples 0", "samples: is 0"},
      {four + "a --output-rung 4", "output rung: is 4"},
      {four + "a --schedule other", "--schedule"},
      {four + "a --seed -1", "--seed"},
      {four + "a --other", "--other"},
      {"a", "--model"},
      {"--model /nowhere a", "/nowhere: does not exist"},
  };
  for (const Refusal& refusal : refusals) {
    for (const std::string& form : {std::string(), " --json --out " + (folder / "run").string()}) {
      check_refusal("sample " + refusal.arguments + form, refusal.message);
      CHECK(folder.holds_nothing());
    }
  }
}

TEST_CASE("what cannot be resumed is refused, and so is a flag that would change nothing") {
  const TemporaryFolder folder;
  check_refusal("sample --resume " + (folder / "nowhere").string(), "no run folder");
  const std::string run = (folder / "run").string();
  sample(toy_models + "four_state.json --horizon 2 --out " + run);
  for (const char* flag : {"--powers 1,2", "--seed 3", "--model x", "--horizon 3", "--rounds 1",
                           "--schedule deo", "--samples 2", "--out x", "--prompt-file x", "a"})
    check_refusal("sample --resume " + run + " " + flag, "--resume");
  std::ofstream(run + "/checkpoint") << "{";
  check_refusal("sample --resume " + run, run + "/checkpoint: ");
}

TEST_CASE("a damaged model folder is refused by file and place, and nothing is written") {
  const TemporaryFolder folder;
  const auto refuse = [&](const ModelFolder& model, const std::string& message) {
    const auto result = run_command("sample '1 2' --model " + model.path().string() + " --out " +
                                    (folder / "run").string());
    CAPTURE(message, result.exit_code, result.out, result.err);
    CHECK(is_refusal(result));
    CHECK_THAT(result.err, Catch::Contains(model.path().string()) && Catch::Contains(message));
    CHECK(folder.holds_nothing());
  };
  const auto broken = [] { return ModelFolder("untied_float32"); };
  {
    const auto model = broken();
    std::filesystem::remove(model.path() / "config.json");
    refuse(model, "config.json");
  }
  {
    const auto model = broken();
    std::filesystem::remove(model.path() / "model.safetensors");
    refuse(model, "model.safetensors");
  }
  {
    const auto model = broken();
    const auto bytes = tempera::gpu::read_bytes(model.path() / "model.safetensors");
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{7}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
      model.write("model.safetensors", bytes.substr(0, size));
      refuse(model, "model.safetensors");
    }
    std::string lying = bytes;
    lying[5] = '\x7F';
    model.write("model.safetensors", lying);
    refuse(model, "model.safetensors");
  }
  {
    const auto model = broken();
    model.edit_json("config.json", [](json& config) {
      config["intermediate_size"] = config["intermediate_size"].get<int>() + 2;
    });
    refuse(model, "model.safetensors");
  }
  {
    const auto model = broken();
    model.edit_json("config.json", [](json& config) { config["num_hidden_layers"] = -1; });
    refuse(model, "num_hidden_layers");
  }
}
