// Fuzzing of the lines of JSON that a run reads: its prompts, and what lies in its folder.
#include <sstream>

#include "gpu/runs/prompt_file.hpp"
#include "gpu/runs/run_plot.hpp"
#include "tests/gpu/fuzz.hpp"
#include "tests/gpu/runs/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

/// A run of two prompts, whole or cut short at a forward pass, whose files are put back after each
/// mutation.
class FuzzedRun {
 public:
  explicit FuzzedRun(std::size_t passes = SIZE_MAX) {
    TableModel model = scattered_table(6, 3);
    SamplingSettings settings = small_settings();
    settings.prompts = {{"b", {2, 3}}, {"a", {4}}};
    settings.confidence = true;
    KilledModel killed(model, passes);
    try {
      begin_run(killed, settings, path());
    } catch (const Killed&) {
    }
  }
  std::filesystem::path path() const { return folder_ / "run"; }
  /// `read` where the file holds these bytes.
  void with(const std::string& file, const std::string& bytes,
            const std::function<void()>& read) const {
    const std::string before = read_bytes(path() / file);
    const auto write = [&](const std::string& text) {
      std::ofstream(path() / file, std::ios::binary | std::ios::trunc) << text;
    };
    write(bytes);
    try {
      read();
    } catch (...) {
      write(before);
      throw;
    }
    write(before);
  }

 private:
  test::TemporaryFolder folder_;
};

/// What `tempera plot` does with a folder.
void plot(const std::filesystem::path& run) {
  std::vector<RoundTrace> rounds;
  const RunTraces traces =
      read_traces(run, [&](const RoundTrace& trace) { rounds.push_back(trace); });
  for (const RoundTrace& round : rounds) rounds_csv_lines(traces.settings, round);
  if (!rounds.empty()) run_plot(traces, rounds, "fuzzed");
}

}  // namespace

TEST_CASE("every file of prompts is read or refused", "[fuzz]") {
  fuzz("prompts.jsonl",
       {"{\"id\": \"a\", \"prompt\": \"x\\n\"}\n{\"prompt\": \"\\u00e9\", \"id\": \"b\"}\n"},
       [](const std::string& bytes) {
         std::istringstream lines(bytes);
         read_prompts(lines, "prompts.jsonl");
       });
}

TEST_CASE("every run folder is plotted or refused, whatever its files hold", "[fuzz]") {
  const FuzzedRun run;
  for (const std::string file : {"events.jsonl", "config.json"})
    fuzz(file.c_str(), {read_bytes(run.path() / file)},
         [&](const std::string& bytes) { run.with(file, bytes, [&] { plot(run.path()); }); });
}

TEST_CASE("every checkpoint is taken up or refused", "[fuzz]") {
  const FuzzedRun run(12);
  for (const std::string file : {"checkpoint", "waiting-0.jsonl"})
    fuzz(file.c_str(), {read_bytes(run.path() / file)}, [&](const std::string& bytes) {
      run.with(file, bytes, [&] {
        const RunFolder folder = RunFolder::open(run.path());
        SamplingSettings::from_json(folder.config(), "config.json");
      });
    });
}

}  // namespace tempera::gpu
