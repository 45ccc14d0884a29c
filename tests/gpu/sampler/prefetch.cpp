// Moves that begin ahead of their turns leave every record, event and bit of a run as it is.
#include "tests/catch.hpp"
#include "tests/gpu/sampler/small_run.hpp"
#include "tests/gpu/transformer/recurrent_model.hpp"

namespace tempera::gpu {
namespace {

struct PrefetchLayout {
  std::size_t prefetch = 0;
  bool early = false;
  std::size_t largest_batch = 64;
  WorkOrder order = WorkOrder::first_come;
};

struct EventKeeper final : Observer {
  void advanced(const Progress&, std::span<const Event> now) override {
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

/// K = 3 with swaps, two stages with three and five moves in a row, ended and unended records.
Prefetched tempered(LanguageModel& model, const PrefetchLayout& layout) {
  static const Ladder ladder({1.0, 1.75, 4.0});
  const Plan plan{make_stages(13, 7, {2, 3}, {3, 5}, {1, 2}), Schedule::adj, 2};
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  Engine engine(model, *rows, lottery, layout.largest_batch, layout.order);
  Prefetched left;
  const std::size_t count = prefetch_contexts.size();
  left.progress.resize(count);
  left.kept.resize(count);
  std::vector<Run> runs;
  runs.reserve(count);
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < count; ++i) {
    runs.push_back({engine, prefetch_contexts[i], ladder, 4, static_cast<std::uint32_t>(i)});
    runs[i].prefetch = layout.prefetch;
    runs[i].early_rejection = layout.early;
    tasks.push_back(parallel_power_tempering(runs[i], plan, left.progress[i], &left.kept[i]));
  }
  engine.run(tasks);
  left.decode_tokens = engine.decode_tokens();
  left.batches = engine.batches();
  return left;
}

bool same_event(const Event& a, const Event& b) {
  return a.kind == b.kind && a.rung == b.rung && a.turn == b.turn && a.restart == b.restart &&
         a.tokens == b.tokens && a.proposed == b.proposed && a.accepted == b.accepted &&
         a.log_ratio == b.log_ratio && a.early == b.early && a.horizon == b.horizon;
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

TEST_CASE("prefetching leaves every record and event of a run as it is, bit for bit") {
  Qwen3Config config = small_config();
  config.max_position_embeddings = 100;
  const std::unique_ptr<Transformer> attending = random_qwen3(config, 5);
  const std::unique_ptr<Transformer> hybrid = recurrent::model();
  TableModel table = scattered_table(9, 6);
  for (LanguageModel* model :
       {static_cast<LanguageModel*>(attending.get()), static_cast<LanguageModel*>(hybrid.get()),
        static_cast<LanguageModel*>(&table)}) {
    for (const bool early : {false, true}) {
      const Prefetched plain = tempered(*model, {0, early});
      CHECK(plain.decode_tokens == tokens_of_events(plain));
      std::size_t accepted = 0, rejected = 0, unproposed = 0;
      for (const EventKeeper& kept : plain.kept)
        for (const Event& event : kept.events) {
          if (event.kind != Event::Kind::local_move) continue;
          ++(event.accepted ? accepted : event.proposed ? rejected : unproposed);
        }
      CHECK(accepted > 10);
      CHECK(rejected > 10);
      CHECK(unproposed > 5);
      for (const PrefetchLayout layout :
           {PrefetchLayout{1, early}, PrefetchLayout{4, early, 7, WorkOrder::last_come},
            PrefetchLayout{100, early}}) {
        CAPTURE(early, layout.prefetch, layout.largest_batch);
        const Prefetched ahead = tempered(*model, layout);
        CHECK(same_runs(plain, ahead));
        CHECK(ahead.decode_tokens > plain.decode_tokens);
        for (const Progress& progress : ahead.progress)
          for (const Record& record : progress.replicas) CHECK(owns_its_cache(*model, record));
        if (layout.largest_batch == 64) CHECK(ahead.batches < plain.batches);
      }
      // Where every batch is full of what is needed there is no room ahead.
      const Prefetched full = tempered(*model, {100, early, 1});
      CHECK(same_runs(plain, full));
      CHECK(full.decode_tokens == plain.decode_tokens);
    }
  }
}

namespace {

/// Uses proposals that were drawn ahead after an acceptance too.
struct KeepsOutdated : PaperRules {
  static bool outdates_those_ahead(const Event&) { return false; }
};

template <class Rules>
Record refined(LanguageModel& model, std::uint64_t seed, std::size_t prefetch) {
  PhiloxLottery lottery;
  SmallRun small(model, prefetch_contexts[2], {2.0}, lottery, seed);
  small.run.prefetch = prefetch;
  Record x = small.scored(4, {2, 3, 2, 2});
  const RestartLaw law = RestartLaw::uniform(4);
  small.finish(refine<Rules>(x, small.run, 0, 7, 5, law));
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

TEST_CASE("what is asked ahead of time gets only the rows that are left") {
  TableModel table = scattered_table(6, 6);
  PhiloxLottery lottery;
  SmallRun small(table, prefetch_contexts[2], {2.0}, lottery, 1, 3);
  std::vector<Record> records;
  for (std::size_t i = 0; i < 5; ++i) records.push_back(small.scored(9, {2, 3}));
  std::vector<Reach> reaches(5);
  for (const std::size_t needed : {1, 4}) reaches[needed].is_reached = true;
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
  small.engine.before_each_batch([&] {
    std::vector<std::size_t>& now = lengths.emplace_back();
    for (const Record& record : records) now.push_back(record.length());
    if (lengths.size() == 2) ended.reset();  // while it waits
  });
  small.engine.run(tasks);
  REQUIRE(lengths.size() == 2);
  CHECK(lengths[1] == std::vector<std::size_t>{3, 3, 2, 2, 3});
  std::vector<std::size_t> last;
  for (const Record& record : records) last.push_back(record.length());
  CHECK(last == std::vector<std::size_t>{3, 3, 3, 2, 3});
  CHECK(small.engine.decode_tokens() == 4);
}

}  // namespace tempera::gpu
