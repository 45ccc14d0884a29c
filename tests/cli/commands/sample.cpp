#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::sample_test {

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

/// The bytes of a run folder's files; 0 if there is none.
std::uintmax_t bytes_in(const std::string& run) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(run, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (const auto size = entry->file_size(gone); !gone) bytes += size;
  }
  return bytes;
}

/// Kills the process once its run folder has so many bytes. Returns whether it was still running.
bool kill_at(pid_t child, const std::string& run, std::uintmax_t bytes) {
  int status = 0;
  for (pid_t ended = 0; ended == 0;) {
    if (bytes_in(run) >= bytes) kill(child, SIGKILL);
    ended = waitpid(child, &status, WNOHANG);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
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
  const std::string three = worked_sum + quick + sum + "--samples 3 --json";
  const json report = json::parse(sample(three + " --summary").out);
  CHECK(report.size() == 4);
  // Times are no answer of a seed: they are there if they are asked for.
  json timeless = report;
  timeless.erase("speed");
  CHECK(json::parse(sample(three).out) == timeless);
  const json& speed = report["speed"];
  CHECK(speed["decode_tokens"] == report["summary"]["decode_tokens"]);
  CHECK(speed["forward_passes"] > 0);
  CHECK(speed["cache_bytes"] > 0);
  CHECK(speed["seconds"].get<double>() >=
        speed["seconds_forward"].get<double>() + speed["seconds_draw"].get<double>() +
            speed["seconds_accept"].get<double>() + speed["seconds_swap"].get<double>());
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
    CHECK(answer["answer"].is_string());
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
  const json report = json::parse(sample("--resume " + run + " --json").out);
  CHECK(report["answers"].size() == 2);
  CHECK(report["summary"]["samples"] == 2);
}

TEST_CASE("a count of zero skips its operation, in a run folder too") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const std::string chain =
      worked_sum + sum + "--sampler fixed-horizon --powers 2 --horizon 6 --block 3 --samples 3 ";
  const std::string extended = sample(chain + "--rounds 0").out;
  CHECK(sample(chain + "--rounds 4 --local-moves 0 --out " + run).out == extended);
  CHECK(sample("--resume " + run).out == extended);
  CHECK(sample(chain + "--rounds 4").out != extended);
  const json summary = json::parse(sample("--resume " + run + " --json").out)["summary"];
  for (const json& rung : summary["rungs"]) CHECK(rung["local_moves"] == 0);
  CHECK(summary.dump().find("nan") == std::string::npos);
  // Without local moves a round's sweeps exchange what the blocks have left.
  const std::string ladder = worked_sum + sum + "--powers 1,4 --horizon 6 --block 6 --samples 3 ";
  CHECK(sample(ladder + "--rounds 1 --local-moves 0 --sweeps 0").out ==
        sample(ladder + "--rounds 0").out);
  const auto table = run_command("sample --resume " + run + " --summary");
  CHECK(table.exit_code == 0);
  CHECK((table.out + table.err).find("nan") == std::string::npos);
}

TEST_CASE("a finished run is printed without its model, and an edited one is not") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const std::string model = (folder / "model.json").string();
  std::filesystem::copy_file(TEMPERA_SOURCE_DIR "/toy_models/four_state.json", model);
  const auto first = sample("a --model " + model + " --horizon 4 --samples 9 --out " + run);
  std::filesystem::remove(model);
  CHECK(sample("--resume " + run).out == first.out);
  for (const char* name : {"samples.jsonl", "events.jsonl", "summary.json", "config.json"}) {
    const std::string bytes = bytes_of(run + "/" + name);
    std::string edited = bytes;
    char& digit = edited[edited.find_first_of("0123456789")];
    digit = digit == '1' ? '2' : '1';
    std::ofstream(run + "/" + name) << edited;
    check_refusal("sample --resume " + run, run);
    std::ofstream(run + "/" + name) << bytes;
  }
  CHECK(sample("--resume " + run).out == first.out);
}

TEST_CASE("a run goes on from any current directory") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const auto first =
      run_command("sample a --model toy_models/four_state.json --horizon 4 --out " + run);
  REQUIRE(first.exit_code == 0);
  // Killed between the last checkpoint and the summary, and with it before any checkpoint.
  std::filesystem::remove(run + "/summary.json");
  std::filesystem::remove(run + "/checkpoint");
  const TemporaryFile out(""), err("");
  const std::string line =
      "cd / && " TEMPERA_BINARY " sample --resume " + run + " >" + out.path() + " 2>" + err.path();
  CHECK(std::system(line.c_str()) == 0);
  CHECK(bytes_of(err.path()).empty());
  CHECK(bytes_of(out.path()) == first.out);
  CHECK(json::parse(bytes_of(run + "/config.json"))["model"] == "toy_models/four_state.json");
}

TEST_CASE("prompts of a file are answered in order, each as it is answered alone") {
  const std::string rest = worked_sum + quick + "--samples 2 --prompts ";
  const std::string one = R"({"id": "one", "prompt": "3+9+2?"})";
  const std::string two = R"({"id": "two", "prompt": "1+1?"})";
  const std::string again = R"({"id": "again", "prompt": "3+9+2?"})";
  const TemporaryFile file(two + "\n" + one + "\n" + again + "\n");
  const auto all = sample(rest + file.path());
  std::vector<json> answers;
  std::istringstream lines(all.out);
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  REQUIRE(answers.size() == 6);
  const char* ids[] = {"two", "two", "one", "one", "again", "again"};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(answers[i]["id"] == ids[i]);
    CHECK(answers[i]["sample"] == i % 2);
    CHECK(answers[i]["answer"].is_string());
  }
  const auto alone = sample(rest + "-", one);
  CHECK_THAT(all.out, Catch::Contains(alone.out));
  CHECK(std::count(alone.out.begin(), alone.out.end(), '\n') == 2);
  // One more sample, and other company.
  const auto more = sample(worked_sum + quick + "--samples 3 --prompts -", again + "\n" + one);
  CHECK_THAT(more.out, Catch::Contains(alone.out));
  const json report = json::parse(sample(rest + file.path() + " --json").out);
  REQUIRE(report["answers"].size() == 6);
  CHECK(report["answers"][4]["id"] == "again");
  CHECK(report["settings"]["prompts"].size() == 3);
}

// The moments are shares of what an uninterrupted run writes. That a kill really struck is checked
// for all of them together: one that comes too late only resumes a finished run.
TEST_CASE("a run that is really killed is resumed to the same bytes") {
  const TemporaryFolder folder;
  const std::string model = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
  const TemporaryFile prompts(
      "{\"id\": \"one\", \"prompt\": \"3+9+2+1+7+2+3+3?\"}\n{\"id\": \"two\", \"prompt\": "
      "\"1+1?\"}");
  const auto command = [&](const std::string& run) {
    return std::vector<std::string>{
        TEMPERA_BINARY, "sample", "--model",  model, "--samples", "3",
        "--horizon",    "24",     "--rounds", "2",   "--powers",  "1,2",
        "--seed",       "9",      "--out",    run,   "--prompts", prompts.path()};
  };
  int status = 0;
  waitpid(start(command((folder / "whole").string())), &status, 0);
  REQUIRE(status == 0);
  const std::uintmax_t whole = bytes_in((folder / "whole").string());
  std::mt19937 moments(12);
  std::size_t struck = 0;
  for (int run = 0; run < 5; ++run) {
    const std::string path = (folder / ("run" + std::to_string(run))).string();
    const auto moment = [&](std::uintmax_t bytes) { return moments() % 1000U * bytes / 1000U; };
    if (kill_at(start(command(path)), path, moment(whole))) ++struck;
    // Killed before the folder had its config.json: there is nothing to resume, and what is there
    // is in no one's way.
    if (!std::filesystem::exists(path + "/config.json")) {
      waitpid(start(command(path)), &status, 0);
      REQUIRE(status == 0);
    }
    const std::uintmax_t before = bytes_in(path);
    if (kill_at(start({TEMPERA_BINARY, "sample", "--resume", path}), path,
                before + moment(before < whole ? whole - before : 0)))
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

namespace {

/// The tokens of the rounds that a run folder holds: those of its journal, and those of the lines
/// up to its checkpoint.
std::uint64_t tokens_of_ended_rounds(const std::string& run) {
  std::uint64_t tokens = 0;
  json files = json::object();
  if (std::filesystem::exists(run + "/checkpoint"))
    files = json::parse(bytes_of(run + "/checkpoint").substr(17))["files"];
  for (const auto& [name, written] : files.items()) {
    if (name == "samples.jsonl" || name == "prompt_reports.jsonl") continue;
    std::istringstream lines(
        bytes_of(run + "/" + name).substr(0, written["bytes"].get<std::size_t>()));
    for (std::string line; std::getline(lines, line);)
      tokens += json::parse(line).value("tokens", std::uint64_t{0});
  }
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    if (!entry.path().filename().string().starts_with("journal-")) continue;
    std::istringstream lines(bytes_of(entry.path()));
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
      const json round = json::parse(line.substr(17));
      if (!round.contains("events")) continue;
      for (const json& event : round["events"]) tokens += event[4].get<std::uint64_t>();
    }
  }
  return tokens;
}

bool has_journal(const std::string& run) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(run, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with("journal-")) return true;
  return false;
}

}  // namespace

// At the default pace, with 64 answers to two prompts under way: what the killed process left of
// rounds is all that the next one does not draw.
TEST_CASE("kill -9 right after a round has ended loses none that has") {
  const TemporaryFolder folder;
  const TemporaryFile prompts(
      "{\"id\": \"one\", \"prompt\": \"3+9+2+1+7+2+3+3?\"}\n{\"id\": \"two\", \"prompt\": "
      "\"1+1?\"}");
  const std::string rest = worked_sum +
                           "--samples 32 --horizon 24 --rounds 3 --powers 1,2 --seed 9 --prompts " +
                           prompts.path() + " --out ";
  const std::string whole = (folder / "whole").string();
  sample(rest + whole);
  const auto tokens_of = [](const std::string& file) {
    return json::parse(bytes_of(file))["decode_tokens"].get<std::uint64_t>();
  };
  std::uint64_t kept = 0;
  // In the first round that ends, and when the folder is as large as so many rounds make it.
  for (const std::uintmax_t bytes : {0, 20'000, 60'000}) {
    const std::string run = (folder / std::to_string(bytes)).string();
    const pid_t child =
        start({"/bin/sh", "-c", "exec " TEMPERA_BINARY " sample " + rest + run + " >/dev/null"});
    while (!has_journal(run) && !std::filesystem::exists(run + "/summary.json"))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    kill_at(child, run, bytes);
    const std::uint64_t ended = tokens_of_ended_rounds(run);
    kept = std::max(kept, ended);
    if (std::filesystem::exists(run + "/summary.json")) continue;  // it was faster
    const std::uint64_t earlier =
        std::filesystem::exists(run + "/speed.json") ? tokens_of(run + "/speed.json") : 0;
    sample("--resume " + run);
    CAPTURE(bytes, ended, earlier);
    CHECK(tokens_of(run + "/speed.json") - earlier == tokens_of(whole + "/summary.json") - ended);
    for (const char* name : {"/config.json", "/events.jsonl", "/samples.jsonl", "/summary.json"})
      CHECK(bytes_of(run + name) == bytes_of(whole + name));
  }
  CHECK(kept > 0);
}

TEST_CASE("SIGINT and SIGTERM leave whole lines and say how to go on") {
  const auto [number, code] = GENERATE(table<int, int>({{SIGINT, 130}, {SIGTERM, 143}}));
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const TemporaryFile out(""), err("");
  // exec, so that the signal reaches the command itself.
  const std::string line = "exec " TEMPERA_BINARY " sample " + toy_models +
                           "four_state.json --horizon 8 --samples 1000000 --out " + run + " >" +
                           out.path() + " 2>" + err.path();
  const pid_t child = start({"/bin/sh", "-c", line});
  while (bytes_of(out.path()).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  // Two processes on one run folder: the second is sent away, and touches nothing.
  check_refusal("sample --resume " + run, "another process is at work in this folder");
  check_refusal("sample " + toy_models + "four_state.json --out " + run, run);
  kill(child, number);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == code);
  CHECK(bytes_of(out.path()).back() == '\n');
  CHECK(bytes_of(err.path()) ==
        "tempera: interrupted; resume with: tempera sample --resume " + run + "\n");
}

TEST_CASE("a run that was asked to stop keeps every answer that it has printed, at any pace") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const TemporaryFile out(""), err("");
  const std::string line = "exec " TEMPERA_BINARY " sample " + toy_models +
                           "four_state.json --horizon 8 --samples 1000000 --checkpoint-seconds "
                           "1000000 --out " +
                           run + " >" + out.path() + " 2>" + err.path();
  const pid_t child = start({"/bin/sh", "-c", line});
  while (bytes_of(out.path()).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WEXITSTATUS(status) == 143);
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  // A checkpoint was made at the signal: what a run that is resumed finds are these answers.
  const json checkpoint = json::parse(bytes_of(run + "/checkpoint").substr(17));
  CHECK(checkpoint["state"]["front"] == lines(bytes_of(out.path())));
  CHECK(lines(bytes_of(run + "/samples.jsonl")) == lines(bytes_of(out.path())));
}

TEST_CASE("early rejection changes no answer, and draws fewer tokens") {
  const std::string rest =
      worked_sum + sum +
      "--horizon 24 --rounds 6 --powers 1,3,9 --samples 4 --seed 3 --json --summary ";
  const json whole = json::parse(sample(rest).out);
  const json early = json::parse(sample(rest + "--early-rejection").out);
  CHECK(early["answers"] == whole["answers"]);
  CHECK(early["settings"]["early_rejection"] == true);
  CHECK_FALSE(whole["settings"].contains("early_rejection"));
  std::uint64_t given_up = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const json& a = whole["summary"]["rungs"][k];
    const json& b = early["summary"]["rungs"][k];
    CHECK(a["accepted"] == b["accepted"]);
    CHECK(a["kept_tokens"] == b["kept_tokens"]);
    CHECK(a["rejected_early"] == 0);
    CHECK(b["decode_tokens"] <= a["decode_tokens"]);
    given_up += b["rejected_early"].get<std::uint64_t>();
  }
  CHECK(given_up > 0);
  CHECK(early["summary"]["decode_tokens"] < whole["summary"]["decode_tokens"]);
  CHECK(early["speed"]["decode_tokens"] == early["summary"]["decode_tokens"]);
}

TEST_CASE("prefetching changes no answer, no summary and no event, and takes fewer steps") {
  const std::string rest =
      worked_sum + sum +
      "--horizon 24 --powers 3,5,9 --seed 3 --early-rejection --json "
      "--summary " +
      GENERATE(as<std::string>{}, "--rounds 3 --local-moves 6 ", "--rounds 12 ");
  json plain = json::parse(sample(rest).out);
  json ahead = json::parse(sample(rest + "--prefetch 3").out);
  CHECK(plain["speed"]["discarded_tokens"] == 0);
  const json& speed = ahead["speed"];
  CHECK(speed["discarded_tokens"] > 0);
  CHECK(speed["forward_passes"] < plain["speed"]["forward_passes"]);
  CHECK(speed["decode_tokens"] == plain["speed"]["decode_tokens"].get<std::uint64_t>() +
                                      speed["discarded_tokens"].get<std::uint64_t>());
  plain.erase("speed");
  ahead.erase("speed");
  CHECK(plain == ahead);
}

TEST_CASE("what a sampler cannot use is refused before anything is written") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const std::string rest = "sample " + toy_models + "four_state.json a --horizon 3 --out " + run;
  for (const std::string option : {"--early-rejection", "--prefetch 2"})
    for (const std::string sampler : {"power-sampling", "standard", "power-smc", "best-of-n"})
      check_refusal(
          rest + " --sampler " + sampler + " " + option,
          option.substr(0, option.find(' ')) + ": has no effect on the sampler " + sampler);
  check_refusal(rest + " --prefetch 2 --rounds 1,0,1",
                "--prefetch: has no effect if no stage has two local moves of a rung");
  CHECK(folder.holds_nothing());
  check_refusal(rest + " --rope-factors long", "has no rotary factors");
  check_refusal(rest + " --rope-factors middling", "--rope-factors: \"middling\" is unknown");
  CHECK(folder.holds_nothing());
  for (const std::string sampler : {"fixed-horizon", "uncoupled-ladder"})
    sample(toy_models + "four_state.json a --horizon 3 --local-moves 2 --sampler " + sampler +
           " --early-rejection --prefetch 2");
  sample(toy_models + "four_state.json a --horizon 3 --rounds 1 --out " + run);
  check_refusal("sample --resume " + run + " --prefetch 1", "--prefetch: has no effect if");
}

TEST_CASE("a budget of memory changes no answer, and one that is too small is refused") {
  const std::string rest =
      worked_sum + sum + "--horizon 12 --rounds 1 --samples 5 --json --summary ";
  const json free = json::parse(sample(rest).out);
  // A page of 16 tokens takes 32 KiB: one for the prompt, and two for a record at the least.
  for (const std::size_t kibibytes : {500, 96}) {
    const json tight =
        json::parse(sample(rest + "--cache-memory " + std::to_string(kibibytes) + "KiB").out);
    CHECK(tight["answers"] == free["answers"]);
    CHECK(tight["speed"]["cache_bytes"] <= kibibytes << 10);
    CHECK(tight["speed"]["cache_bytes"] < free["speed"]["cache_bytes"]);
  }
  const TemporaryFolder folder;
  check_refusal("sample " + rest + "--cache-memory 95KiB --out " + (folder / "run").string(),
                "cache memory: 95 KiB cannot hold one sample of prompt 1, which needs 96 KiB");
}

TEST_CASE("neither the size of a batch nor the number of threads changes an answer or an event") {
  const TemporaryFolder folder;
  const std::string rest = worked_sum + sum + "--horizon 12 --rounds 2 --samples 3 --summary ";
  const json free = json::parse(sample(rest + "--json --out " + (folder / "free").string()).out);
  const json one = json::parse(
      sample(rest + "--json --batch 1 --threads 1 --out " + (folder / "one").string()).out);
  CHECK(one["answers"] == free["answers"]);
  CHECK(one["speed"]["decode_tokens"] == free["speed"]["decode_tokens"]);
  // A pass of one record draws one token, and the prompt has a pass of its own.
  CHECK(one["speed"]["forward_passes"] > one["speed"]["decode_tokens"]);
  CHECK(one["speed"]["forward_passes"] > 4 * free["speed"]["forward_passes"].get<std::uint64_t>());
  for (const char* file : {"config.json", "events.jsonl", "samples.jsonl", "summary.json"})
    CHECK(bytes_of((folder / "one" / file).string()) ==
          bytes_of((folder / "free" / file).string()));
  check_refusal("sample " + rest + "--batch 0", "--batch: \"0\" is out of range");
  check_refusal("sample " + rest + "--threads 0", "--threads: \"0\" is out of range");
  CHECK(run_command("sample --resume " + (folder / "free").string() + " --batch 2 --threads 2")
            .exit_code == 0);
}

TEST_CASE("a preset gives the paper's values, and an option given beside it its own") {
  const std::string rest = toy_models + "four_state.json a --json --rounds 1 ";
  const json all =
      json::parse(sample(rest + "--preset qwen3/humaneval --horizon 8 --block 3").out)["settings"];
  CHECK(all["preset"] == "qwen3/humaneval");
  CHECK(all["powers"] == json{1.5, 1.6, 1.8});
  CHECK(all["rounds"] == json{1});
  CHECK(all["horizon"] == 8);
  CHECK(all["block"] == 3);
  CHECK(all["output_rung"] == 3);
  CHECK(all["local_moves"] == json{1});
  CHECK(all["schedule"] == "adj");
  const json own =
      json::parse(sample(rest + "--preset qwen3/gsm8k --powers 1,2 --horizon 5").out)["settings"];
  CHECK(own["powers"] == json{1.0, 2.0});
  CHECK(own["block"] == 192);
  check_refusal("sample " + rest + "--preset qwen3/math50",
                "--preset: \"qwen3/math50\" is unknown; did you mean qwen3/math500?");
  check_refusal("sample " + rest + "--preset other", "tempera presets lists them");
  check_refusal("sample " + rest + "--preset gsm8k", "did you mean qwen3/gsm8k?");
  check_refusal("sample " + rest + "--preset aime", "did you mean qwen3/aime or qwen3.5/aime?");
}

TEST_CASE("presets lists what sample --preset takes") {
  const json all = json::parse(run_command("presets --json").out);
  REQUIRE(all.size() == 9);
  CHECK(all[0]["name"] == "qwen3/math500");
  const auto table = run_command("presets");
  CHECK(table.exit_code == 0);
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  // What the paper's text says and its tables do not.
  CHECK_THAT(table.out, Catch::Contains("Qwen2.5-Math") && Catch::Contains("T = 3072"));
  for (const json& preset : all)
    CHECK_THAT(table.out, Catch::Contains("\n" + preset["name"].get<std::string>() + " "));
  check_refusal("presets x", "x");
}

// Kept in memory, each answer more would cost 100 bytes at the least: 59,000 of them 5.9 MB.
TEST_CASE("many samples need no more memory than few") {
  const auto kilobytes = [](const std::string& samples) {
    const TemporaryFile out("");
    const pid_t child = start({"/bin/sh", "-c",
                               "exec " TEMPERA_BINARY " sample " + toy_models +
                                   "four_state.json --horizon 2 --block 2 --rounds 0 --powers 1 "
                                   "--samples " +
                                   samples + " >" + out.path()});
    int status = 0;
    struct rusage usage {};
    wait4(child, &status, 0, &usage);
    CHECK(status == 0);
    return usage.ru_maxrss;
  };
  const auto few = kilobytes("1000");
  CHECK(kilobytes("60000") < few + 3000);
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
      {four + "'a z'", "prompt: \"z\" is not a token"},
      {four + "'a e'", "prompt: token 2 of the prompt is the terminal 'e'"},
      {four + "a --powers 2,1", "powers, rung 2"},
      {four + "a --powers 1,1", "powers, rung 2"},
      {four + "a --powers 0,1", "--powers: the power \"0\" is out of range"},
      {four + "a --powers -1", "--powers: \"-1\" is not a power"},
      {four + "a --powers nan", "--powers: \"nan\" is not a power"},
      {four + "a --powers inf", "--powers: \"inf\" is not a power"},
      {four + "a --powers x", "--powers"},
      {four + "a --horizon 0", "--horizon: \"0\" is out of range"},
      {four + "a --horizon -3", "--horizon"},
      {four + "a --horizon 1048577", "--horizon: \"1048577\" is out of range"},
      {four + "a --block -1", "--block"},
      {four + "a --rounds -1", "--rounds"},
      {four + "a --rounds 4294967296", "--rounds: \"4294967296\" is out of range"},
      {four + "a --rounds 4194304 --local-moves 2", "local moves: the run has more than 2^24"},
      {four + "a --rounds 1,2,3", "rounds: 3 numbers for 4 stages"},
      {four + "a --samples 0", "--samples: \"0\" is out of range"},
      {four + "a --samples 1000000000000", "--samples: \"1000000000000\" is out of range"},
      {four + "a --output-rung 4", "output rung: is 4"},
      {four + "a --output-rung 0", "--output-rung: \"0\" is out of range"},
      {four + "a --block 0", "--block: \"0\" is out of range"},
      {four + "a --out ''", "--out"},
      {four + "a --powers 1,2 5", "\"5\": is one argument too many"},
      {four + "a --powers 1e308", "the power \"1e308\" is out of range"},
      {four + "a --powers 1048577", "--powers: the power \"1048577\" is out of range"},
      {four + "a --schedule other", "--schedule"},
      {four + "a --seed -1", "--seed"},
      {four + "a --other", "--other"},
      {"a", "--model"},
      {"--model /nowhere a", "/nowhere: does not exist"},
      {"--model smollm a", "smollm: does not exist; did you mean smollm2?"},
      {four + "a --samples 1000000000000", "--samples"},
      {four + "a --cache-memory 8", "--cache-memory: \"8\" is not a number of bytes"},
      {four + "a --cache-memory 1e3GiB", "--cache-memory: \"1e3GiB\" is not a number of bytes"},
      {four + "a --cache-memory 0.5B", "--cache-memory: \"0.5B\" is out of range"},
      {four + "a --cache-memory 9999TiB", "--cache-memory: \"9999TiB\" is out of range"},
      {four + "a --checkpoint-seconds -1", "--checkpoint-seconds"},
      {four + "a --checkpoint-seconds 1000001", "--checkpoint-seconds"},
      {worked_sum + "--prompt-file /tmp", "/tmp: cannot be read"},
      {worked_sum + "--prompts /nowhere", "/nowhere: cannot be read"},
      {worked_sum + "--prompts -", "standard input: holds no prompt"},
      {worked_sum + sum + "--prompts /nowhere", "--prompts"},
      {"a --model " + std::string(5000, 'm'), "File name too long"},
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
  check_refusal("sample --resume " + (folder / "nowhere").string(), "is not a run folder");
  const std::string run = (folder / "run").string();
  sample(toy_models + "four_state.json --horizon 2 --out " + run);
  for (const char* flag : {"--powers 1,2", "--seed 3", "--model x", "--horizon 3", "--rounds 1",
                           "--schedule deo", "--samples 2", "--out x", "--prompt-file x",
                           "--preset qwen3/aime", "--early-rejection", "a"})
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

TEST_CASE("an option about the run folder is refused where there is none") {
  const std::string rest = "sample " + toy_models + "four_state.json a ";
  check_refusal(rest + "--checkpoint-seconds 5", "--checkpoint-seconds: has no effect without");
  check_refusal(rest + "--confidence",
                "--confidence: has no effect without --out, --summary or --json");
}

}  // namespace tempera::sample_test
