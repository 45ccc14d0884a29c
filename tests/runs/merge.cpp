// Merges of more answers than their buffers hold, and the runs that shards mark as held.
#include "runs/merge.hpp"

#include "runs/held_runs.hpp"
#include "tests/law.hpp"
#include "tests/runs/shard_runs.hpp"

namespace tempera::gpu::merge_test {

TEST_CASE("a merge of more than its buffers hold is the single run") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  SamplingSettings settings = dealt_settings();
  settings.samples = 400;
  constexpr double no_checkpoint = 1e9;
  begin_run(model, settings, work / "whole", no_checkpoint);
  // Events, lines and parts of several of a merge's writes, and parts of several windows.
  REQUIRE(std::filesystem::file_size(work / "whole/events.jsonl") > 3'000'000);
  for (const std::size_t number : {1U, 2U}) {
    const Shard shard{number, 2};
    ShardFolder folder(work / "run", shard);
    ListedRuns deal(dealt_runs(settings, number, 2));
    Job(model, settings, numbers_of, &folder.open(config_of_shard(settings, shard)), {},
        {.checkpoint_seconds = no_checkpoint}, &deal)
        .run();
  }
  REQUIRE(std::filesystem::file_size(work / "run/shard-1-of-2/parts.jsonl") > 500'000);
  merge_shards(work / "run", work / "run/merged");
  CHECK(bytes_in(work / "run/merged") == bytes_in(work / "whole"));
  SECTION("a part that was edited, seal and all, is named by its file") {
    const auto shard = work / "run/shard-2-of-2";
    std::string parts = read_bytes(shard / "parts.jsonl");
    // In the last part, which another thread counts than the one that has checked it.
    const std::size_t at = parts.rfind("\"statistics\":{\"");
    REQUIRE(at != std::string::npos);
    std::string checkpoint = read_bytes(shard / "checkpoint");
    const auto seal_of = [](const std::string& bytes) {
      Checksum checksum;
      checksum.update(bytes);
      return std::to_string(checksum.value());
    };
    const std::string before = seal_of(parts);
    parts[at + 14] = 'X';
    const std::size_t sealed = checkpoint.find(before);
    REQUIRE(sealed != std::string::npos);
    checkpoint.replace(sealed, before.size(), seal_of(parts));
    const std::string text = checkpoint.substr(checkpoint.find('\n') + 1);
    Checksum whole;
    whole.update(read_bytes(shard / "config.json"));
    whole.update(text);
    std::ofstream(shard / "parts.jsonl") << parts;
    std::ofstream(shard / "checkpoint") << hexadecimal(whole) << '\n' << text;
    require_bad_input(
        [&] { merge_shards(work / "run", work / "again"); },
        {"shard-2-of-2/parts.jsonl: is not as tempera writes it", "draw the shard again"});
    CHECK_FALSE(std::filesystem::exists(work / "again"));
  }
}

TEST_CASE("a run is held once, and the first that is not is found") {
  law("by a list of what was marked", [] {
    const auto runs = *rc::gen::inRange<std::size_t>(0, 300);
    HeldRuns held(runs);
    std::vector<bool> is_held(runs);
    for (std::size_t i = 0; i < 2 * runs; ++i) {
      // Mostly in order, so that long beginnings are held.
      const std::size_t run_index = *rc::gen::weightedOneOf<std::size_t>(
          {{1, rc::gen::inRange<std::size_t>(0, runs)}, {4, rc::gen::just(i % runs)}});
      RC_ASSERT(held.mark(run_index) != is_held[run_index]);
      is_held[run_index] = true;
      if (i + 1 < runs) continue;
      const auto first = std::find(is_held.begin(), is_held.end(), false);
      const auto found = held.first_without();
      RC_ASSERT(found.has_value() == (first != is_held.end()));
      if (found) RC_ASSERT(*found == static_cast<std::size_t>(first - is_held.begin()));
    }
  });
  CHECK_FALSE(HeldRuns(0).first_without());
  CHECK(HeldRuns(64).first_without() == 0U);
}

}  // namespace tempera::gpu::merge_test
