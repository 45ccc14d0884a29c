// Moves that begin ahead of their turns leave every record, event and bit of a run as it is.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"

namespace tempera::gpu::sampler_prefetch_test {
namespace {

struct PrefetchLayout {
  std::size_t prefetch = 0;
  bool early = false;
  std::size_t largest_batch = 64;
  WorkOrder order = WorkOrder::first_come;
};

struct EventKeeper final : Observer {
  void round_ended(const Progress&, std::span<const Event> now) override {
    events.insert(events.end(), now.begin(), now.end());
  }
  std::vector<Event> events;
};

/// What a run of several prompts and samples leaves.
struct Prefetched {
  std::vector<Progress> progress;
  std::vector<EventKeeper> kept;
  std::uint64_t decode_tokens = 0;
  std::uint64_t batches = 0;
};

const std::vector<Context> prefetch_contexts{
    {{2, 3, 4}, {0, 1}}, {recurrent::text_of(58), {0, 1}}, {{5}, {}}};

/// What is run: a ladder, and how many moves follow each other, in a round and beyond it.
struct PrefetchedPlan {
  std::vector<double> powers;
  Plan plan;
};

/// Two stages each; ended and unended records.
std::vector<PrefetchedPlan> prefetched_plans() {
  const std::vector<double> three{1.0, 1.75, 4.0};
  const auto stages = [](const std::vector<std::size_t>& rounds,
                         const std::vector<std::size_t>& local_moves,
                         const std::vector<std::size_t>& sweeps) {
    return make_stages(13, 7, rounds, local_moves, sweeps);
  };
  return {{three, {stages({2, 3}, {3, 5}, {1, 2}), Schedule::adj, 2}},
          {three, {stages({7, 9}, {1}, {1}), Schedule::adj, 2}},  // the paper's rounds
          {{1.5, 2.0, 3.0},
           {stages({5, 4}, {1, 2}, {1, 2}), Schedule::deo, 2, 0, {}, RestartRange::record}},
          {{2.5}, {stages({9}, {1}, {0}), Schedule::adj, 0}}};
}

Prefetched tempered(LanguageModel& model, const PrefetchedPlan& planned,
                    const PrefetchLayout& layout) {
  const Ladder ladder(planned.powers);
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  Engine engine(model, *rows, lottery, layout.largest_batch, layout.order);
  Prefetched left;
  const std::size_t count = prefetch_contexts.size();
  left.progress.resize(count);
  left.kept.resize(count);
  std::vector<Chain> runs;
  runs.reserve(count);
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < count; ++i) {
    runs.push_back({engine, prefetch_contexts[i], ladder, 4, static_cast<std::uint32_t>(i)});
    runs[i].options.prefetch = layout.prefetch;
    runs[i].options.early_rejection = layout.early;
    tasks.push_back(
        parallel_power_tempering(runs[i], planned.plan, left.progress[i], &left.kept[i]));
  }
  engine.run(tasks);
  left.decode_tokens = engine.decode_tokens();
  left.batches = engine.batches();
  return left;
}

bool same_event(const Event& a, const Event& b) {
  return a.kind == b.kind && a.rung == b.rung && a.turn == b.turn && a.restart == b.restart &&
         a.tokens == b.tokens && a.proposed == b.proposed && a.accepted == b.accepted &&
         a.changed == b.changed && a.log_ratio == b.log_ratio && a.early == b.early &&
         a.horizon == b.horizon;
}

bool same_runs(const Prefetched& a, const Prefetched& b) {
  for (std::size_t i = 0; i < a.progress.size(); ++i) {
    for (Rung k = 0; k < a.progress[i].replicas.size(); ++k)
      if (!same_record(a.progress[i].replicas[k], b.progress[i].replicas[k])) return false;
    const std::vector<Event>& events = a.kept[i].events;
    if (!std::equal(events.begin(), events.end(), b.kept[i].events.begin(), b.kept[i].events.end(),
                    same_event))
      return false;
  }
  return true;
}

std::uint64_t tokens_of_events(const Prefetched& left) {
  std::uint64_t tokens = 0;
  for (const EventKeeper& kept : left.kept)
    for (const Event& event : kept.events) tokens += event.tokens;
  return tokens;
}

}  // namespace

TEST_CASE("prefetching leaves every record and event of a run as it is, bit for bit",
          "[unsanitized]") {
  DecoderConfig config = small_config();
  config.max_position_embeddings = 100;
  const std::unique_ptr<Transformer> attending = random_qwen3(config, 5);
  const std::unique_ptr<Transformer> hybrid = recurrent::model();
  TableModel table = scattered_table(9, 6);
  for (LanguageModel* model :
       {static_cast<LanguageModel*>(attending.get()), static_cast<LanguageModel*>(hybrid.get()),
        static_cast<LanguageModel*>(&table)}) {
    std::size_t accepted = 0, rejected = 0, unproposed = 0, swapped = 0, unswapped = 0;
    for (const PrefetchedPlan& planned : prefetched_plans()) {
      for (const bool early : {false, true}) {
        const Prefetched plain = tempered(*model, planned, {0, early});
        CHECK(plain.decode_tokens == tokens_of_events(plain));
        for (const EventKeeper& kept : plain.kept)
          for (const Event& event : kept.events) {
            if (event.kind == Event::Kind::swap) ++(event.accepted ? swapped : unswapped);
            if (event.kind != Event::Kind::local_move) continue;
            ++(event.accepted ? accepted : event.proposed ? rejected : unproposed);
          }
        for (const PrefetchLayout layout :
             {PrefetchLayout{1, early}, PrefetchLayout{3, early, 7, WorkOrder::last_come},
              PrefetchLayout{100, early}}) {
          CAPTURE(planned.powers, early, layout.prefetch, layout.largest_batch);
          const Prefetched ahead = tempered(*model, planned, layout);
          CHECK(same_runs(plain, ahead));
          CHECK(ahead.decode_tokens > plain.decode_tokens);
          for (const Progress& progress : ahead.progress)
            for (const Record& record : progress.replicas) CHECK(owns_its_cache(*model, record));
          if (layout.largest_batch == 64) CHECK(ahead.batches < plain.batches);
        }
        // If every batch is full of what is needed there is no room ahead.
        const Prefetched full = tempered(*model, planned, {100, early, 1});
        CHECK(same_runs(plain, full));
        CHECK(full.decode_tokens == plain.decode_tokens);
      }
    }
    for (const std::size_t seen : {accepted, rejected, unproposed, swapped, unswapped})
      CHECK(seen > 10);
  }
}

/// Uses proposals that were drawn ahead after an acceptance too.
struct KeepsOutdated : PaperRules {
  static bool outdates_those_ahead(const Event&) { return false; }
};

namespace {

/// What five moves leave, in rounds of two, two and one.
template <class Rules>
Record refined(LanguageModel& model, std::uint64_t seed, std::size_t prefetch) {
  PhiloxLottery lottery;
  SmallRun small(model, prefetch_contexts[2], {2.0}, lottery, seed);
  small.run.options.prefetch = prefetch;
  Record x = small.scored(4, {2, 3, 2, 2});
  const RestartLaw law = RestartLaw::uniform(4);
  MovesAhead begun;
  for (const std::size_t first : {7, 9, 11}) {
    const std::size_t end = std::min<std::size_t>(first + 2, 12);
    small.finish(refine<Rules>(x, small.run, 0, {first, end, 12}, law, begun));
    CHECK(begun.size() == std::min<std::size_t>(prefetch, 12 - end));
  }
  CHECK(small.run.events.size() == 5);
  return x;
}

}  // namespace

TEST_CASE("a proposal that is used after an acceptance which it was drawn ahead of is caught") {
  TableModel table = scattered_table(6, 6);
  std::size_t caught = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Record plain = refined<PaperRules>(table, seed, 0);
    CHECK(same_record(plain, refined<PaperRules>(table, seed, 4)));
    CHECK(same_record(plain, refined<KeepsOutdated>(table, seed, 0)));
    if (!same_record(plain, refined<KeepsOutdated>(table, seed, 4))) ++caught;
  }
  CHECK(caught > 5);
}

namespace {

/// A step that is at fault before its turn.
Task failing(Turn turn) {
  turn.accept(std::nan(""));
  co_await turn.granted();
}

/// Two tokens to go on with, and a third after which the rows are not numbers: never drawn after
/// the second, so that it is the record which decides whether it is met. Counts them.
TableModel table_with_a_hole(std::size_t& met) {
  return TableModel(4, [&met](std::span<const TokenId> prefix) {
    const auto has = [&](TokenId token) {
      return std::find(prefix.begin(), prefix.end(), token) != prefix.end();
    };
    met += has(3) ? 1 : 0;
    return has(3) ? std::vector<float>(4, std::nanf(""))
                  : std::vector<float>{-9.0F, 1.0F, 0.5F, has(2) ? -99.0F : -0.5F};
  });
}

}  // namespace

TEST_CASE("what a speculative move throws is thrown when its turn has come") {
  TableModel table = scattered_table(6, 6);
  PhiloxLottery lottery;
  SmallRun small(table, prefetch_contexts[2], {2.0}, lottery);
  const auto begin = [&](SpeculativeMove& step) {
    step.begin(failing(Turn(small.run, 0, 1, Purpose::proposal_token, step.gate())));
  };
  const auto awaited = [&]() -> Task {
    SpeculativeMove step;
    begin(step);
    co_await step;
  };
  CHECK_THROWS_AS(small.finish(awaited()), ModelError);
  SpeculativeMove ended;
  begin(ended);
}

TEST_CASE(
    "a row that is not a number ends the run if it was needed, and not if it was asked ahead") {
  const Context context{{}, {0}};
  std::size_t rows_that_are_none = 0;
  const auto left_by = [&](std::uint64_t seed, std::size_t prefetch) {
    TableModel table = table_with_a_hole(rows_that_are_none);
    PhiloxLottery lottery;
    SmallRun small(table, context, {2.0, 3.0}, lottery, seed);
    small.run.options.prefetch = prefetch;
    const Plan plan{{{4, 3, 1, 1}}, Schedule::adj, 1};
    Progress progress;
    try {
      small.finish(parallel_power_tempering(small.run, plan, progress));
    } catch (const ModelError&) {
      return std::vector<TokenId>{};
    }
    return progress.replicas.back().token_ids();
  };
  std::size_t failed = 0, sound = 0, only_ahead = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto plain = left_by(seed, 0);
    rows_that_are_none = 0;
    CHECK(left_by(seed, 3) == plain);
    ++(plain.empty() ? failed : rows_that_are_none > 0 ? only_ahead : sound);
  }
  CHECK(failed > 5);
  CHECK(sound > 5);
  CHECK(only_ahead > 0);
}

TEST_CASE("what is asked ahead of time gets only the rows that are left") {
  TableModel table = scattered_table(6, 6);
  PhiloxLottery lottery;
  SmallRun small(table, prefetch_contexts[2], {2.0}, lottery, 1, 3);
  std::vector<Record> records;
  for (std::size_t i = 0; i < 5; ++i) records.push_back(small.scored(9, {2, 3}));
  std::vector<TurnGate> reaches(5);
  for (const std::size_t needed : {1, 4}) reaches[needed].is_open = true;
  std::vector<Task> tasks;
  const auto one_token = [&](std::size_t i) -> Task {
    Turn turn(small.run, 0, i, Purpose::proposal_token, &reaches[i]);
    records[i].append(co_await turn.next_token(records[i]));
  };
  for (const std::size_t i : {0, 1, 2, 4}) tasks.push_back(one_token(i));
  std::optional<Task> ended(one_token(3));
  const auto starter = [&]() -> Task {
    ended->start();
    co_return;
  };
  tasks.push_back(starter());
  std::vector<std::vector<std::size_t>> lengths;
  for (Task& task : tasks) small.engine.add(std::move(task));
  do {
    std::vector<std::size_t>& now = lengths.emplace_back();
    for (const Record& record : records) now.push_back(record.length());
    if (lengths.size() == 2) ended.reset();  // while it waits
  } while (small.engine.step());
  REQUIRE(lengths.size() == 2);
  CHECK(lengths[1] == std::vector<std::size_t>{3, 3, 2, 2, 3});
  std::vector<std::size_t> last;
  for (const Record& record : records) last.push_back(record.length());
  CHECK(last == std::vector<std::size_t>{3, 3, 3, 2, 3});
  CHECK(small.engine.decode_tokens() == 4);
}

}  // namespace tempera::gpu::sampler_prefetch_test
