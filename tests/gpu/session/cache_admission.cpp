#include "gpu/session/cache_admission.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "gpu/device/planted_fault.hpp"
#include "gpu/session/cache_memory.hpp"
#include "gpu/session/draw_answers.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/counted_model.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

struct Collected final : DrawListener {
  void before_batch(const SessionTotals& so_far) override { held_back = so_far.held_back; }
  void drawn(std::size_t, const Answer& answer) override { answers.push_back(answer.tokens); }
  std::vector<std::vector<TokenId>> answers;
  std::optional<HeldBack> held_back;
};

const std::vector<Prompt> prompts{
    {{2, 3, 4, 5, 6, 2, 3}, {1, 0}}, {{2}, {2, 0}}, {{4, 4, 4, 3}, {3, 0}}};

DrawSettings settings_with(std::size_t cache_memory) {
  DrawSettings settings{
      Ladder({1.0, 2.0, 3.0}), {make_stages(9, 5, {2}, {1}, {1}), Schedule::adj, 1}, {0}};
  settings.samples = 5;
  settings.cache_memory = cache_memory;
  return settings;
}

std::vector<std::vector<TokenId>> drawn(CountedModel& model, const DrawSettings& settings,
                                        std::span<const Prompt> of = prompts) {
  Collected collected;
  draw_answers(model, of, parallel_power_tempering, settings, collected);
  return collected.answers;
}

/// The bytes that one record of the first prompt needs: the least that the memory must hold. And
/// what its run is expected to need, of three records.
constexpr std::size_t one_record = 70 + 100;
constexpr std::size_t one_run = 70 + 3 * 100;

}  // namespace

TEST_CASE("under any budget the answers are the same, and the caches stay within it") {
  CountedModel free;
  const auto answers = drawn(free, settings_with(0));
  CHECK(answers.size() == 15);
  CHECK(free.most_held > 2 * one_run);
  std::size_t least = free.most_held, most = 0;
  std::vector<std::size_t> computed;
  for (const std::size_t budget :
       {one_record, one_record + 1, one_run, 2 * one_run, 3 * one_run + 77}) {
    for (const auto order : {WorkOrder::first_come, WorkOrder::last_come}) {
      CAPTURE(budget);
      CountedModel model;
      DrawSettings settings = settings_with(budget);
      settings.order = order;
      settings.largest_batch = 4;
      CHECK(drawn(model, settings) == answers);
      CHECK(model.most_held <= budget);
      least = std::min(least, model.most_held);
      most = std::max(most, model.most_held);
      if (order == WorkOrder::first_come) computed.push_back(model.computed);
    }
  }
  // A larger budget is used, and a smaller one costs tokens that are computed again.
  CHECK(most > 3 * least / 2);
  CHECK(computed.front() > computed.back());
  CHECK(std::is_sorted(computed.rbegin(), computed.rend()));
}

TEST_CASE("a budget that nobody gives is half of the free memory, and refuses no run") {
  constexpr std::size_t token = 10'000;
  constexpr std::size_t large_run = one_run / 10 * token;
  CountedModel free(token);
  const auto answers = drawn(free, settings_with(0));
  CHECK(answers.size() == 15);
  CHECK(resolve_cache_memory(77).bytes == 77);
  CHECK(resolve_cache_memory(77).is_given);
  for (const std::size_t runs : {3, 1, 0}) {
    CAPTURE(runs);
    CountedModel model(token);
    Collected collected;
    // Half of it holds so many runs, or not quite one.
    const std::size_t memory = 2 * (runs == 0 ? large_run - 1 : runs * large_run);
    {
      const WithPlantedFault small({{}, memory});
      CHECK(resolve_cache_memory(0).bytes == memory / 2);
      CHECK_FALSE(resolve_cache_memory(0).is_given);
      draw_answers(model, prompts, parallel_power_tempering, settings_with(0), collected);
    }
    CHECK(collected.answers == answers);
    CHECK(model.most_held <= std::max(memory / 2, one_record / 10 * token));
    CHECK(model.most_held < free.most_held);
    REQUIRE(collected.held_back);
    CHECK(collected.held_back->budget.bytes == memory / 2);
    CHECK_THAT(
        text_of(*collected.held_back, 64),
        Catch::StartsWith(std::to_string(collected.held_back->under_way) + " of 64 samples"));
    CHECK(collected.held_back->under_way >= 1);
    CHECK(collected.held_back->under_way < 15);
  }
  // If all fit, nothing is held back.
  CountedModel small;
  Collected collected;
  draw_answers(small, prompts, parallel_power_tempering, settings_with(0), collected);
  CHECK_FALSE(collected.held_back);
}

TEST_CASE("a run that is held back by memory says so once, in one line") {
  SamplingSettings settings = small_settings();
  settings.prompts = {{std::nullopt, {4, 5, 6}}};
  settings.terminal = {0};
  constexpr std::size_t token = 100'000;
  std::vector<std::string> remarks;
  JobWatcher watcher{[](const SampledAnswer&) {}, {}, {}};
  watcher.remark = [&](const std::string& line) { remarks.push_back(line); };
  const auto run = [&](const JobLayout& layout) {
    CountedModel model(token);
    Job(model, settings, numbers_of, nullptr, watcher, layout).run();
  };
  run({});
  CHECK(remarks.empty());
  const WithPlantedFault small({{}, 2 * 25 * token});
  run({});
  REQUIRE(remarks.size() == 1);
  CHECK_THAT(remarks.front(), Catch::Contains("of 64 samples are under way at once"));
  CHECK_THAT(remarks.front(), Catch::Contains("2.38 MiB, half of the memory that was free"));
  // Who gives a budget knows of it.
  JobLayout given;
  given.session.cache_memory = 25 * token;
  run(given);
  CHECK(remarks.size() == 1);
}

TEST_CASE("a run that cannot fit is refused before anything is drawn") {
  CountedModel model;
  require_bad_input([&] { drawn(model, settings_with(one_record - 1)); },
                    {"cache memory", "prompt 1", "169 bytes", "170 bytes"});
  CHECK(model.longest_batch == 0);
}

// The longest prompt has two stages less in its last block: 9 − 6 tokens of each cache.
TEST_CASE("a prompt with a horizon of its own needs room for that alone") {
  std::vector<Prompt> cut = prompts;
  cut[0].horizon = 6;
  constexpr std::size_t its_record = 70 + 70;
  cut[2].tokens.push_back(5);
  // That of the third prompt, of five tokens, needs more now.
  constexpr std::size_t third_record = 50 + 100;
  static_assert(third_record > its_record && third_record < one_record);
  CountedModel free;
  const auto answers = drawn(free, settings_with(0), cut);
  CountedModel model;
  CHECK(drawn(model, settings_with(third_record), cut) == answers);
  CHECK(model.most_held <= third_record);
  require_bad_input([&] { drawn(model, settings_with(third_record - 1), cut); },
                    {"cache memory", "prompt 3", "149 bytes", "150 bytes"});
  cut[0].horizon = 9;
  require_bad_input([&] { drawn(model, settings_with(third_record), cut); },
                    {"cache memory", "prompt 1", "170 bytes"});
}

TEST_CASE("what rows need is their records without the prompt, and what a fork copies") {
  CountedModel model;
  CHECK(cache_bytes_of_rows(model, 7, 9, 1) == 160 - 70 + 10);
  CHECK(cache_bytes_of_rows(model, 7, 9, 3) == 3 * (160 - 70 + 10));
  CHECK(bytes_text(17) == "17 bytes");
  CHECK(bytes_text(3 << 29) == "1.5 GiB");
}

TEST_CASE("what the system lets a process take bounds its caches, where nobody gave their memory") {
  const auto taken_now = [] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  };
  const std::size_t taken = taken_now();
  constexpr std::size_t left = std::size_t{256} << 20;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  rlimit less = before;
  less.rlim_cur = taken + left;
  REQUIRE(::setrlimit(RLIMIT_AS, &less) == 0);
  const CacheBudget budget = resolve_cache_memory(0);
  const CacheBudget given = resolve_cache_memory(7);
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(budget.bytes > 0);
  // The heap may have given pages back meanwhile, which are then left too.
  CHECK(budget.bytes <= (taken + left - std::min(taken, taken_now())) / 2);
  CHECK_FALSE(budget.is_given);
  CHECK(given.bytes == 7);
}

TEST_CASE("a long prompt is computed in pieces, beside those who draw") {
  Prompt longest{std::vector<TokenId>(2000, 3), {9, 0}};
  for (std::size_t i = 0; i < longest.tokens.size(); ++i)
    longest.tokens[i] = static_cast<TokenId>(1 + i % 6);
  const std::vector<Prompt> both{{{2, 3}, {1, 0}}, longest};
  CountedModel model;
  DrawSettings settings = settings_with(0);
  settings.samples = 1;
  Collected together;
  draw_answers(model, both, parallel_power_tempering, settings, together);
  CHECK(model.longest_pass == 512);
  // The same as alone.
  Collected alone;
  CountedModel other;
  draw_answers(other, std::span(both).subspan(1), parallel_power_tempering, settings, alone);
  CHECK(alone.answers.front() == together.answers.back());
}

}  // namespace tempera::gpu
