// Runs that prefetch leave the same files, whatever they prefetch when they are cut and resumed.
#include "gpu/session/cache_admission.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

using Counts = std::vector<std::size_t>;

/// Two stages with these counts of rounds, and of local moves in each of them.
SamplingSettings prefetched_settings(const Counts& rounds, const Counts& local_moves) {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a", {2, 4}}, {"b", {5}}};
  settings.samples = 2;
  settings.horizon = 6;
  settings.block = 4;
  settings.powers = {1.5, 3.0, 6.0};
  settings.rounds = rounds;
  settings.local_moves = local_moves;
  settings.output = 3;
  settings.options.early_rejection = true;
  return settings;
}

struct AheadLayout {
  std::size_t prefetch = 0;
  std::size_t cache_memory = 0;
  std::function<bool()> stop = {};
};

/// Begins the run, or resumes it if the folder is there.
nlohmann::ordered_json run_ahead(LanguageModel& model, const std::filesystem::path& path,
                                 const SamplingSettings& asked, const AheadLayout& layout) {
  RunFolder folder = std::filesystem::exists(path) ? RunFolder::open(path)
                                                   : RunFolder::create(path, asked.to_json());
  auto settings = SamplingSettings::from_json(folder.config(), "config.json");
  settings.options.prefetch = layout.prefetch;
  Job job(model, settings, numbers_of, &folder, {{}, {}, layout.stop},
          {0.0, {{.cache_memory = layout.cache_memory}}});
  job.run();
  return job.speed();
}

}  // namespace

TEST_CASE("prefetching changes no byte of a run folder but of speed.json") {
  // Moves in a row, and one a round.
  const auto [rounds, local_moves] =
      GENERATE(table<Counts, Counts>({{{2, 1}, {2, 4}}, {{4, 3}, {1}}}));
  CAPTURE(rounds);
  const SamplingSettings settings = prefetched_settings(rounds, local_moves);
  const std::unique_ptr<Transformer> model = random_qwen3(small_config(), 5);
  const test::TemporaryFolder work;
  const auto plain = run_ahead(*model, work / "plain", settings, {0});
  const auto ahead = run_ahead(*model, work / "ahead", settings, {3});
  const Left whole(work / "plain");
  CHECK(Left(work / "ahead") == whole);
  CHECK(plain["discarded_tokens"] == 0);
  CHECK(ahead["discarded_tokens"] > 0);
  const auto drawn = nlohmann::json::parse(whole.summary)["decode_tokens"];
  CHECK(plain["decode_tokens"] == drawn);
  CHECK(ahead["decode_tokens"] ==
        drawn.get<std::uint64_t>() + ahead["discarded_tokens"].get<std::uint64_t>());
  CHECK(ahead["forward_passes"] < plain["forward_passes"]);
  // Killed or asked to stop with moves under way ahead, and resumed with more, fewer or none.
  for (const std::size_t passes : {3, 9, 14, 22}) {
    CAPTURE(passes);
    const auto path = work / "cut";
    std::size_t left = passes;
    KilledModel killed(*model, passes);
    if (passes % 2 == 1)
      CHECK_THROWS_AS(run_ahead(killed, path, settings, {3}), Killed);
    else
      CHECK_THROWS_AS(run_ahead(*model, path, settings, {3, 0, [&] { return left-- == 0; }}),
                      RunStopped);
    KilledModel again(*model, passes / 2);
    CHECK_THROWS_AS(run_ahead(again, path, settings, {1}), Killed);
    const auto rest = run_ahead(*model, path, settings, {passes % 3});
    CHECK(Left(path) == whole);
    // What was ahead at a cut is drawn again: of all processes the rest was wasted.
    CHECK(rest["decode_tokens"].get<std::uint64_t>() -
              rest["discarded_tokens"].get<std::uint64_t>() ==
          drawn.get<std::uint64_t>());
    std::filesystem::remove_all(path);
  }
}

TEST_CASE("proposals that are ahead keep within the memory, however little it is") {
  // A stage has four moves at most: beyond three none can be ahead.
  const auto [rounds, local_moves] =
      GENERATE(table<Counts, Counts>({{{2, 1}, {2, 4}}, {{4, 3}, {1}}}));
  const SamplingSettings settings = prefetched_settings(rounds, local_moves);
  std::unique_ptr<Transformer> model = random_qwen3(small_config(), 5);
  const test::TemporaryFolder work;
  run_ahead(*model, work / "plain", settings, {0});
  const std::size_t least = model->cache_bytes(2) + cache_bytes_of_rows(*model, 2, 6, 1);
  for (const std::size_t records : {1, 3, 12}) {
    for (const std::size_t prefetch : {3, 50}) {
      const std::size_t memory = least + (records - 1) * cache_bytes_of_rows(*model, 2, 6, 1);
      const auto path = work / (std::to_string(prefetch) + "-" + std::to_string(records));
      model = random_qwen3(small_config(), 5);  // that knows of no other run's caches
      const auto speed = run_ahead(*model, path, settings, {prefetch, memory});
      CHECK(Left(path) == Left(work / "plain"));
      CHECK(speed["cache_bytes"] <= memory);
    }
  }
  require_bad_input(
      [&] {
        run_ahead(*model, work / "small", settings, {3, least - 1});
      },
      {"cache memory: ", "cannot hold one sample of prompt 1"});
}

}  // namespace tempera::gpu
