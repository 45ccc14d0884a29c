// Exact rejection on a small transformer and on tables: the same bits whatever the batch and
// wherever a run is cut, no address twice, and decisions that a naive replay takes too.
#include "gpu/core/sampler/exact_rejection.hpp"

#include <cmath>
#include <set>

#include "tests/catch.hpp"
#include "tests/gpu/core/lottery/recording_lottery.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu::exact_rejection_test {
namespace {

const Context prompt{{3, 4}, {0, 1}};
constexpr std::size_t horizon = 6;

Plan plan_of(std::size_t most_tokens = 0) {
  Plan plan{make_stages(horizon, 2, {0}, {0}, {0})};
  plan.until_kept = true;
  plan.most_tokens = most_tokens;
  return plan;
}

/// Keeps all events, and stops a run at its `cut`th rest.
struct Cutter final : Observer {
  explicit Cutter(std::size_t cut) : left(cut) {}
  void round_ended(const Progress& progress, std::span<const Event> now) override {
    events.insert(events.end(), now.begin(), now.end());
    if (left-- > 1) return;
    static_cast<Position&>(kept) = progress;
    tokens = progress.replicas.front().token_ids();
    throw std::runtime_error("cut");
  }
  std::size_t left;
  Progress kept;
  std::vector<TokenId> tokens;
  std::vector<Event> events;
};

struct Ended {
  std::vector<TokenId> tokens;
  std::size_t proposals = 0;
  std::size_t drawn = 0;
  std::vector<RecordedDraw> draws;
  std::vector<Event> events;

  bool same_outcome(const Ended& other) const {
    return tokens == other.tokens && proposals == other.proposals && drawn == other.drawn;
  }
};

Ended run_to_end(LanguageModel& model, const Plan& plan, double power, std::uint64_t seed,
                 std::size_t batch = 64, std::size_t cut = 100'000) {
  RecordingLottery lottery;
  SmallRun small(model, prompt, {power}, lottery, seed, batch);
  Cutter cutter(cut);
  Progress progress;
  try {
    small.finish(exact_rejection<RejectionRules>(small.run, plan, progress, &cutter));
  } catch (const std::runtime_error&) {
    progress = std::move(cutter.kept);
    progress.replicas.push_back(
        small.scored(plan.stages.at(progress.stage).horizon, cutter.tokens));
    small.run.events.clear();
    small.finish(exact_rejection<RejectionRules>(small.run, plan, progress, nullptr));
  }
  const Record& record = progress.replicas.front();
  CHECK(same_record(record, small.scored(horizon, record.token_ids())));
  CHECK(owns_its_cache(model, record));
  return {record.token_ids(), progress.local_moves, progress.drawn, lottery.drawn(), cutter.events};
}

}  // namespace

TEST_CASE("exact rejection has the same bits for any batch and wherever its run is cut") {
  const auto model = random_qwen3(small_config(), 5);
  std::size_t proposals = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    CAPTURE(seed);
    const Ended whole = run_to_end(*model, plan_of(), 1.25, seed);
    CHECK(!whole.tokens.empty());
    proposals += whole.proposals;
    CHECK(run_to_end(*model, plan_of(), 1.25, seed, 1).same_outcome(whole));
    for (const std::size_t cut : {1, 2, 3, 5})
      CHECK(run_to_end(*model, plan_of(), 1.25, seed, 64, cut).same_outcome(whole));
  }
  CHECK(proposals > 8);
}

TEST_CASE("no two decisions of exact rejection share an address") {
  TableModel model = scattered_table(7, 9);
  std::size_t deaths = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Ended ended = run_to_end(model, plan_of(), 3.0, seed);
    std::set<std::array<std::uint32_t, 4>> counters;
    for (const RecordedDraw& one : ended.draws) {
      const Word word = counter_of(one.draw.address);
      CHECK(counters.insert({word.limb[0], word.limb[1], word.limb[2], word.limb[3]}).second);
    }
    // Each token is drawn once and outlived once, or not.
    CHECK(ended.draws.size() == 2 * ended.drawn);
    deaths += ended.proposals - 1;
  }
  CHECK(deaths > 20);
}

TEST_CASE("the events of exact rejection are its proposals, the last of them kept") {
  TableModel model = scattered_table(7, 9);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Ended ended = run_to_end(model, plan_of(), 3.0, seed);
    REQUIRE(ended.events.size() == ended.proposals);
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < ended.events.size(); ++i) {
      CHECK(ended.events[i].turn == i);
      CHECK(ended.events[i].accepted == (i + 1 == ended.events.size()));
      tokens += ended.events[i].tokens;
    }
    CHECK(tokens == ended.drawn);
    CHECK(ended.events.back().tokens == ended.tokens.size());
  }
}

// The limit keeps proposals from beginning; it never cuts one, which would favour short answers.
TEST_CASE("a limit on the tokens of exact rejection changes no proposal, and ends with none") {
  TableModel model = scattered_table(7, 9);
  std::size_t not_drawn = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Ended whole = run_to_end(model, plan_of(), 3.0, seed);
    const std::size_t before = whole.drawn - whole.tokens.size();
    CHECK(run_to_end(model, plan_of(before + horizon), 3.0, seed).same_outcome(whole));
    if (before == 0) continue;
    const Ended ended = run_to_end(model, plan_of(before + horizon - 1), 3.0, seed);
    CHECK(ended.tokens.empty());
    CHECK(ended.drawn <= before);
    CHECK(ended.proposals < whole.proposals);
    ++not_drawn;
  }
  CHECK(not_drawn > 10);
}

TEST_CASE("what an answer takes is estimated from the proposals that died") {
  Progress progress;
  CHECK(std::isinf(tokens_of_an_answer(progress, 2)));
  // Four proposals reach the first token at z = 1/2, one the second at z = 1/4: 5/4 tokens each,
  // kept with 1/8.
  for (int i = 0; i < 4; ++i) note_survival(progress, 1, std::log(0.5));
  note_survival(progress, 2, std::log(0.25));
  CHECK(tokens_of_an_answer(progress, 2) == Approx(10.0));
  CHECK(tokens_of_an_answer(progress, 4) == Approx(80.0));
}

}  // namespace tempera::gpu::exact_rejection_test
