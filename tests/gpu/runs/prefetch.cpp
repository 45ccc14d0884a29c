// Runs that prefetch leave the same files, whatever they prefetch when they are cut and taken up.
#include "gpu/runs/cache_admission.hpp"
#include "tests/gpu/runs/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

SamplingSettings prefetched_settings() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a", {2, 4}}, {"b", {5}}};
  settings.samples = 2;
  settings.horizon = 6;
  settings.block = 4;
  settings.powers = {1.0, 1.5, 3.0};
  settings.local_moves = {2, 4};
  settings.output = 3;
  settings.early_rejection = true;
  return settings;
}

nlohmann::ordered_json run_ahead(LanguageModel& model, const std::filesystem::path& path,
                                 std::size_t prefetch, std::size_t cache_memory = 0) {
  RunFolder folder = std::filesystem::exists(path)
                         ? RunFolder::open(path)
                         : RunFolder::create(path, prefetched_settings().to_json());
  const auto settings = SamplingSettings::from_json(folder.config(), "config.json");
  Sampling sampling(model, settings, numbers_of, &folder, {}, {0.0, cache_memory, prefetch});
  sampling.run();
  return sampling.speed();
}

}  // namespace

TEST_CASE("prefetching changes no byte of a run folder but of speed.json") {
  const std::unique_ptr<Transformer> model = random_qwen3(small_config(), 5);
  const test::TemporaryFolder work;
  const auto plain = run_ahead(*model, work / "plain", 0);
  const auto ahead = run_ahead(*model, work / "ahead", 3);
  const Left whole(work / "plain");
  CHECK(Left(work / "ahead") == whole);
  CHECK(plain["discarded_tokens"] == 0);
  CHECK(ahead["discarded_tokens"] > 0);
  const auto drawn = nlohmann::json::parse(whole.summary)["decode_tokens"];
  CHECK(plain["decode_tokens"] == drawn);
  CHECK(ahead["decode_tokens"] ==
        drawn.get<std::uint64_t>() + ahead["discarded_tokens"].get<std::uint64_t>());
  CHECK(ahead["forward_passes"] < plain["forward_passes"]);
  // Killed with moves under way ahead, and taken up with more, fewer or none of them.
  for (const std::size_t passes : {3, 9, 14, 22}) {
    CAPTURE(passes);
    const auto path = work / "killed";
    KilledModel killed(*model, passes);
    CHECK_THROWS_AS(run_ahead(killed, path, 3), Killed);
    KilledModel again(*model, passes / 2);
    CHECK_THROWS_AS(run_ahead(again, path, 1), Killed);
    run_ahead(*model, path, passes % 3);
    CHECK(Left(path) == whole);
    std::filesystem::remove_all(path);
  }
}

TEST_CASE("the caches of proposals that can be ahead count in the budget of memory") {
  std::unique_ptr<Transformer> model = random_qwen3(small_config(), 5);
  const test::TemporaryFolder work;
  run_ahead(*model, work / "plain", 0);
  // A round has four moves at most: beyond three none can be ahead.
  const std::size_t prompt = model->cache_bytes(2);
  const std::size_t three = prompt + cache_bytes_of_run(*model, 2, 6, 3, 1 + 3, true);
  for (const std::size_t prefetch : {3, 50}) {
    const auto path = work / std::to_string(prefetch);
    model = random_qwen3(small_config(), 5);  // that knows of no other run's caches
    const auto speed = run_ahead(*model, path, prefetch, three);
    CHECK(Left(path) == Left(work / "plain"));
    CHECK(speed["cache_bytes"] <= three);
  }
  require_bad_input([&] { run_ahead(*model, work / "small", 3, three - 1); },
                    {"cache memory: ", "cannot hold one sample of prompt 1"});
}

}  // namespace tempera::gpu
