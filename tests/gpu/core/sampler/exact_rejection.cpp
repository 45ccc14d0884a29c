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

/// Reports two dead proposals at most at once, so that small runs can be cut between proposals.
struct OftenReported : RejectionRules {
  static constexpr std::size_t reported_together = 2;
};

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
                 std::size_t batch = 64, std::size_t cut = 100'000, bool auditable = false) {
  RecordingLottery lottery;
  SmallRun small(model, prompt, {power}, lottery, seed, batch);
  small.run.options.auditable = auditable;
  Cutter cutter(cut);
  Progress progress;
  try {
    small.finish(exact_rejection<OftenReported>(small.run, plan, progress, &cutter));
  } catch (const std::runtime_error&) {
    progress = std::move(cutter.kept);
    progress.replicas.push_back(
        small.scored(plan.stages.at(progress.stage).horizon, cutter.tokens));
    small.run.events.clear();
    small.finish(exact_rejection<OftenReported>(small.run, plan, progress, nullptr));
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
    deaths += ended.proposals - 1;
  }
  CHECK(deaths > 20);
}

// Naively, from every row of the table: the words of a proposal's survivals and tokens decide alone
// which proposals die, where, and what they drew.
TEST_CASE("a proposal dies before its first token is drawn, and else where its words say") {
  TableModel model = scattered_table(7, 9);
  constexpr double power = 3.0;
  const auto row_of = [&](const std::vector<TokenId>& tokens) {
    std::vector<TokenId> history = prompt.prompt;
    history.insert(history.end(), tokens.begin(), tokens.end());
    const auto cache = model.empty_cache();
    DeviceMemory<float> logits;
    const Pass pass{cache.get(), history};
    model.next_logits(std::span(&pass, 1), logits);
    return logits.download(0, model.vocabulary_size());
  };
  const auto share_of = [](const Word& word) {
    return static_cast<double>(word.limb[3]) / 0x1p32 + static_cast<double>(word.limb[2]) / 0x1p64;
  };
  std::size_t at_once = 0, later = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    std::size_t drawn = 0, number = 0;
    std::vector<TokenId> tokens;
    for (bool is_kept = false; !is_kept; ++number) {
      tokens.clear();
      for (is_kept = true; is_kept && tokens.size() < horizon;) {
        const std::vector<float> row = row_of(tokens);
        const auto turn = static_cast<std::uint32_t>(number);
        const auto position = static_cast<std::uint32_t>(tokens.size());
        double z1 = 0.0, z = 0.0;
        for (const float logit : row) z1 += std::exp(static_cast<double>(logit));
        for (const float logit : row)
          z += std::pow(std::exp(static_cast<double>(logit)) / z1, power);
        const auto word = [&](Purpose purpose) {
          return share_of(philox(counter_of({0, 0, 0, turn, position, purpose, 0}), seed));
        };
        is_kept = word(Purpose::survival) < z;
        if (!is_kept && tokens.empty()) break;
        double before = 0.0;
        TokenId token = 0;
        for (; token + 1 < row.size(); ++token) {
          before += std::pow(std::exp(static_cast<double>(row[token])) / z1, power) / z;
          if (word(Purpose::proposal_token) < before) break;
        }
        tokens.push_back(token);
        if (token < 2) break;
      }
      drawn += tokens.size();
      if (!is_kept) ++(tokens.empty() ? at_once : later);
    }
    const Ended ended = run_to_end(model, plan_of(), power, seed);
    CHECK(ended.tokens == tokens);
    CHECK(ended.proposals == number);
    std::size_t told = 0;
    for (const Event& event : ended.events) told += event.tokens;
    CHECK(told == drawn);
  }
  CHECK(at_once > 20);
  CHECK(later > 20);
}

TEST_CASE("the events of exact rejection count the dead together, and the last is the kept one") {
  TableModel model = scattered_table(7, 9);
  std::size_t lists = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Ended ended = run_to_end(model, plan_of(), 3.0, seed, 64, 100'000, true);
    REQUIRE(!ended.events.empty());
    std::size_t proposals = 0;
    for (const Event& event : ended.events) {
      const bool is_last = &event == &ended.events.back();
      proposals += event.proposals;
      CHECK(event.turn + 1 == proposals);
      CHECK(event.accepted == is_last);
      CHECK(event.proposals <= OftenReported::reported_together);
      if (is_last) continue;
      std::size_t tokens = 0, least = 0;
      for (std::size_t i = 0; i < event.drawn.size(); i += 2 + event.drawn[i + 1]) {
        CHECK(event.drawn[i] >= least);
        CHECK(event.drawn[i] < event.proposals);
        CHECK(event.drawn[i + 1] >= 1);
        least = event.drawn[i] + 1;
        tokens += event.drawn[i + 1];
        ++lists;
      }
      CHECK(tokens == event.tokens);
    }
    CHECK(proposals == ended.proposals);
    CHECK(ended.events.back().proposals == 1);
    CHECK(ended.events.back().drawn == ended.tokens);
  }
  CHECK(lists > 10);
}

// The limit keeps proposals from beginning; it never cuts one, which would favour short answers.
TEST_CASE("a limit on the tokens of exact rejection changes no proposal, and ends with none") {
  TableModel model = scattered_table(7, 9);
  std::size_t not_drawn = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Ended whole = run_to_end(model, plan_of(), 3.0, seed);
    const std::size_t before = whole.drawn - whole.tokens.size();  // of the dead, each one at least
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

TEST_CASE("a run of exact rejection that nothing keeps ends with what it counted") {
  TableModel model = scattered_table(7, 9);
  const Ended ended = run_to_end(model, plan_of(horizon), 40.0, 1);
  REQUIRE(ended.tokens.empty());
  std::size_t proposals = 0;
  for (const Event& event : ended.events) proposals += event.proposals;
  CHECK(proposals == ended.proposals);
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
  CHECK(tokens_for_an_answer(progress, 2, 0.5) == Approx(2.0 + 10.0 * std::log(2.0)));
}

}  // namespace tempera::gpu::exact_rejection_test
