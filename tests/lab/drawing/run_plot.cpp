#include "lab/drawing/run_plot.hpp"

#include <fstream>

#include "tests/gpu/fuzz.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

SamplingSettings traced_settings() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a,\"b\"", {7, 8, 9}}, {"c", {4}}};
  settings.powers = {1.0, 2.0, 3.5};
  settings.rounds = {3, 5};
  settings.sweeps = {2};
  settings.output = 3;
  settings.samples = 2;
  settings.options.confidence = true;
  return settings;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// A run of two prompts, whole or cut short at a forward pass, whose files are put back after each
/// mutation.
class FuzzedRun {
 public:
  explicit FuzzedRun(std::size_t passes = SIZE_MAX) {
    TableModel model = scattered_table(6, 3);
    SamplingSettings settings = small_settings();
    settings.prompts = {{"b", {2, 3}}, {"a", {4}}};
    settings.options.confidence = true;
    KilledModel killed(model, passes);
    try {
      begin_run(killed, settings, path());
    } catch (const Killed&) {
    }
  }
  std::filesystem::path path() const { return folder_ / "run"; }
  /// `read` if the file holds these bytes.
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
  if (!rounds.empty()) run_plot(traces, rounds, {}, "fuzzed");
}

}  // namespace

TEST_CASE("the picture has a line for each replica and rung and a bar for each acceptance") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  begin_run(*model, traced_settings(), work / "run");
  std::vector<RoundTrace> sample;
  const RunTraces run = read_traces(work / "run", [&](const RoundTrace& trace) {
    if (trace.prompt == 1 && trace.sample == 1) sample.push_back(trace);
  });
  REQUIRE(sample.size() == 10);
  const ChainFigures figures{-7.25, 1, 0.125, 34.5, 21.5, 1.0625};
  const std::vector<RungDiagnostics> chains{
      {1, 1, 6, 9, figures, {3, 0, 0, 54, 54, {}}, figures},
      {1, 2, 6, 9, figures, figures, {0.375, 0.5, 0, 54, 54, {}}}};
  const std::string svg = run_plot(run, sample, chains, "a < b & \"c\"");
  CHECK(occurrences(svg, "<polyline") == 6);
  CHECK(occurrences(svg, "<rect") == 1 + 3 + 2);
  CHECK(occurrences(svg, "replica ") == 3);
  CHECK(occurrences(svg, "a &lt; b &amp; &quot;c&quot;") == 2);
  for (const char* words : {"Index process", "Acceptance", "Log-likelihood", "rung (power)",
                            "share accepted", "log p0(x) in nats", "block extensions and rounds",
                            "6 answers of this prompt", "log p0: ESS", "commonest answer: ESS",
                            ">0.375<", ">34.5<", ">21.5<", ">1.062<", ">0.125<", ">54<", ">-<"})
    CHECK(svg.find(words) != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  for (auto at = svg.find("points=\""); at != std::string::npos;
       at = svg.find("points=\"", at + 1)) {
    const std::string points = svg.substr(at + 8, svg.find('"', at + 8) - at - 8);
    CHECK(occurrences(points, ",") == sample.size());
  }
  // One round, one rung, and a log p0 that never changes.
  RunTraces single = run;
  single.settings.powers = {2.0};
  single.moves = {{0, 0}};
  single.swaps.clear();
  const RoundTrace only{0, 0, 1, 0, {1}, {3}, {-4.0}, {}};
  CHECK(run_plot(single, std::span(&only, 1), {}, "").find("nan") == std::string::npos);
}

TEST_CASE("every run folder is plotted or refused, whatever its files hold", "[fuzz]") {
  const FuzzedRun run;
  for (const std::string file : {"events.jsonl", "config.json"})
    fuzz(file.c_str(), {read_bytes(run.path() / file)},
         [&](const std::string& bytes) { run.with(file, bytes, [&] { plot(run.path()); }); });
}

}  // namespace tempera::gpu
