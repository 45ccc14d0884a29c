// What it costs to keep a run: 256 samples of the shipped transformer with and without a run
// folder, in turns, the bytes that checkpoints write by the number of samples, and the time that a
// round's line in the journal takes by the length of its records.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "bench/seconds_of.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "runs/ended_round.hpp"
#include "runs/job.hpp"

using namespace tempera;
using bench::seconds_of;

namespace {

/// Counts the bytes that are put in their place: the checkpoints.
class CountingDisk final : public tempera::Disk {
 public:
  std::uint64_t bytes = 0;
  std::size_t files = 0;

 protected:
  int before(const char* operation, const std::filesystem::path& file) override {
    if (std::string(operation) == "put in its place") {
      bytes += std::filesystem::file_size(file.string() + ".new");
      ++files;
    }
    return 0;
  }
};

gpu::SamplingSettings settings_of(const gpu::OpenedModel& model, std::size_t samples) {
  gpu::SamplingSettings settings;
  settings.model = settings.model_path = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
  settings.prompts = {{std::nullopt, model.encode("4+7+9+3+8+6+2+5?", "prompt")}};
  settings.terminal = model.terminal();
  settings.powers = {1.0, 1.6, 2.5, 4.0};
  settings.horizon = 28;
  settings.block = 4;
  settings.rounds = {3};
  settings.local_moves = {1};
  settings.sweeps = {1};
  settings.output = 4;
  settings.samples = samples;
  settings.seed = 1;
  return settings;
}

/// What a run took.
struct Cost {
  double wall = 0.0;       ///< seconds
  double processor = 0.0;  ///< seconds of all threads, user's and system's
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Cost run(const gpu::OpenedModel& model, const gpu::SamplingSettings& settings,
         gpu::RunFolder* folder) {
  gpu::Job sampling(model.model(), settings, model.text(), folder);
  const double before = processor_seconds();
  const double wall = seconds_of([&] { sampling.run(); });
  return {wall, processor_seconds() - before};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Microseconds to write and append the line of a round of six rungs, each with a local move.
double microseconds_of_line(const std::filesystem::path& folder, std::size_t length) {
  constexpr std::size_t rungs = 6;
  constexpr int lines = 500;
  gpu::EndedRound round;
  round.progress.replicas.assign(rungs, std::vector<gpu::TokenId>(length, 12345));
  round.progress.log_p0.assign(rungs, 13885033331024138240U);
  round.events.assign(2 * rungs - 1, {.restart = 17, .tokens = 40, .log_ratio = -1.25});
  gpu::Journal journal(folder, tempera::Checksum(length), tempera::Disk::real());
  const double seconds = seconds_of([&] {
    for (int i = 0; i < lines; ++i) journal.append(gpu::journal_line(round));
  });
  return 1e6 * seconds / lines;
}

}  // namespace

int main() {
  const gpu::OpenedModel model =
      gpu::OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  std::string work = (std::filesystem::temp_directory_path() / "tempera-bench-XXXXXX").string();
  if (mkdtemp(work.data()) == nullptr) return 1;
  std::size_t made = 0;
  const auto keep = [&](std::size_t samples, CountingDisk& disk) {
    const gpu::SamplingSettings settings = settings_of(model, samples);
    auto folder =
        gpu::RunFolder::create(work + "/" + std::to_string(made++), settings.to_json(), disk);
    return run(model, settings, &folder);
  };
  // In pairs, and every other pair begins with the run that keeps nothing: what else the machine
  // does falls on both alike.
  std::printf(
      "256 samples of worked_sum, 4 rungs, T = 28: seconds of all threads, and on the clock\n"
      "%10s %12s %8s %14s %12s %8s\n",
      "without", "with --out", "ratio", "clock without", "with --out", "ratio");
  std::vector<double> processor;
  std::vector<double> wall;
  for (int pair = 0; pair < 8; ++pair) {
    CountingDisk disk;
    Cost with;
    if (pair % 2 == 1) with = keep(256, disk);
    const Cost without = run(model, settings_of(model, 256), nullptr);
    if (pair % 2 == 0) with = keep(256, disk);
    processor.push_back(with.processor / without.processor);
    wall.push_back(with.wall / without.wall);
    std::printf("%10.2f %12.2f %8.3f %14.2f %12.2f %8.3f\n", without.processor, with.processor,
                processor.back(), without.wall, with.wall, wall.back());
  }
  std::printf(
      "median ratio %.3f (at most 1.05), on the clock %.3f (at most 1.1)\n\n%10s %14s %14s\n",
      median(processor), median(wall), "samples", "checkpoints", "bytes of them");
  for (const std::size_t samples : {std::size_t{150}, std::size_t{300}, std::size_t{600}}) {
    CountingDisk disk;
    keep(samples, disk);
    std::printf("%10zu %14zu %14llu\n", samples, disk.files,
                static_cast<unsigned long long>(disk.bytes));
  }
  std::printf("\n%10s %26s\n", "tokens", "a line of 6 records, us");
  for (const std::size_t length : {std::size_t{8}, std::size_t{64}, std::size_t{1024}})
    std::printf("%10zu %26.1f\n", length, microseconds_of_line(work, length));
  std::filesystem::remove_all(work);
}
