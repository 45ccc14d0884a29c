#include "gpu/core/engine/engine.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>

#include "base/error.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu::engine_test {
namespace {

const Context context{{2}, {0}};

/// A table of three tokens whose row after one token, 1, is another.
TableModel with_row_after_1(std::vector<float> row) {
  return TableModel(3, [row](std::span<const TokenId> prefix) {
    return prefix.back() == 1 ? row : std::vector<float>{-50.0F, 0.0F, -50.0F};
  });
}

Task moves(Record& x, SmallRun& small) {
  co_await extend(x, Turn(small.run, 0, 0, Purpose::extension_token), 3);
  for (std::size_t number = 0; number < 4; ++number)
    co_await local_move(x, small.turn(0, number), RestartLaw::uniform(3));
}

/// Runs one sampler and says what it threw.
std::string failure_of(LanguageModel& model) {
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0}, lottery);
  Record x(context, model.empty_cache());
  try {
    small.finish(moves(x, small));
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a logit that is not a number ends the run; it never becomes a rejection") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& row : {std::vector<float>{0.0F, nan, 0.0F},
                                        {infinity, 0.0F, 0.0F},
                                        {nan, nan, nan},
                                        {-infinity, -infinity, -infinity}}) {
    TableModel model = with_row_after_1(row);
    CHECK_FALSE(failure_of(model).empty());
  }
  TableModel sound = with_row_after_1({0.0F, -infinity, 0.0F});
  CHECK(failure_of(sound).empty());
}

struct NoNumber : PaperRules {
  static double local_log_ratio(const Record&, const Record&, std::size_t, Rung) {
    return std::nan("");
  }
};

TEST_CASE("a score that is not a number ends the run at once: the others stop where they are") {
  TableModel model = scattered_table(5, 1);
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0}, lottery);
  Record broken = small.scored(3, {2, 3, 4});
  Record sound = small.scored(3, {2, 3, 4});
  const RestartLaw from_1({1, 0, 0});
  std::vector<Task> tasks;
  tasks.push_back(local_move<NoNumber>(broken, small.turn(0), from_1));
  tasks.push_back(local_move(sound, small.turn(0, 1), from_1));
  CHECK_THROWS_AS(small.engine.run(tasks), ModelError);
  CHECK(same_record(broken, small.scored(3, {2, 3, 4})));
  CHECK(same_record(sound, small.scored(3, {2, 3, 4})));
  CHECK(small.run.events.empty());
}

TEST_CASE("a failure is told whatever ends beside it") {
  struct Fault final : std::exception {};
  const auto ends = [](bool fails) -> Task {
    if (fails) throw Fault();
    co_return;
  };
  TableModel model = scattered_table(5, 1);
  PhiloxLottery lottery;
  for (const std::vector<bool>& fail :
       {std::vector<bool>{true, false}, {false, true}, {false, true, false}, {true, true, false}}) {
    SmallRun small(model, context, {1.0}, lottery);
    std::vector<Task> tasks;
    for (const bool fails : fail) tasks.push_back(ends(fails));
    CHECK_THROWS_AS(small.engine.run(tasks), Fault);
  }
}

TEST_CASE("a batch takes as many requests as it may") {
  TableModel model = scattered_table(5, 1);
  for (const std::size_t largest : {1, 2, 5, 64}) {
    PhiloxLottery lottery;
    SmallRun small(model, context, {1.0}, lottery, 1, largest);
    std::vector<Record> records;
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < 10; ++i) records.emplace_back(context, model.empty_cache());
    for (std::size_t i = 0; i < 10; ++i)
      tasks.push_back(
          extend(records[i],
                 Turn(small.run, 0, static_cast<std::uint32_t>(i), Purpose::extension_token), 1));
    small.engine.run(tasks);
    CHECK(small.engine.decode_tokens() == 10);
    CHECK(small.engine.batches() == (10 + largest - 1) / largest);
  }
}

TEST_CASE("a prompt is computed once for all samples and replicas that begin with it") {
  const auto model = random_qwen3(small_config(5), 2);
  const std::vector<Context> contexts{{{2, 3, 4, 3}, {0}}, {{4, 4}, {0}}};
  const std::vector<Stage> stages{{1, 0, 1, 1}};  // one token of each record, and no move
  for (const std::size_t largest : {1, 3, 64}) {
    const std::uint64_t before = model->tokens_computed();
    PhiloxLottery lottery;
    const auto rows = make_device_row_lottery();
    Engine engine(*model, *rows, lottery, largest);
    const Ladder ladder({1.0, 2.0, 3.0});
    std::vector<Chain> runs;
    for (std::uint32_t prompt = 0; prompt < contexts.size(); ++prompt) {
      const std::shared_ptr<Cache> cache = model->empty_cache();
      for (std::uint32_t sample = 0; sample < 5; ++sample)
        runs.push_back({engine, contexts[prompt], ladder, 1, prompt, sample, cache});
    }
    const Plan plan{stages, Schedule::adj, 0};
    std::vector<Progress> progress(runs.size());
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < runs.size(); ++i)
      tasks.push_back(parallel_power_tempering(runs[i], plan, progress[i]));
    engine.run(tasks);
    CHECK(engine.decode_tokens() == runs.size() * ladder.rungs());
    // No token but the prompts' goes through the layers: a drawn one only does when another
    // follows.
    CHECK(model->tokens_computed() - before == 4 + 2);
  }
}

TEST_CASE("a prompt computed in pieces of any length gives the same records, and each token once") {
  const auto arithmetic = GENERATE(from_range(arithmetics));
  const auto model = random_qwen3(small_config(), 2, default_kernels(arithmetic));
  const Context longer{{22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4}, {0}};
  const Context shorter{{4, 3}, {0}};
  const Plan plan{make_stages(6, 3, {2}, {1}, {1}), Schedule::adj, 0};
  const Ladder ladder({1.0, 2.0, 3.0});
  std::vector<std::vector<Progress>> all;
  for (const std::size_t tokens : {512, 16, 7, 3, 1}) {
    const std::uint64_t before = model->tokens_computed();
    PhiloxLottery lottery;
    const auto rows = make_device_row_lottery();
    Engine engine(*model, *rows, lottery, 4);
    engine.compute_prefixes_by(tokens);
    const std::shared_ptr<Cache> shared = model->empty_cache();
    std::vector<Chain> runs;
    for (const std::uint32_t sample : {0U, 1U})
      runs.push_back({engine, longer, ladder, 5, 0, sample, shared});
    runs.push_back({engine, shorter, ladder, 5, 1, 0});
    std::vector<Progress>& progress = all.emplace_back(runs.size());
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < runs.size(); ++i)
      tasks.push_back(parallel_power_tempering(runs[i], plan, progress[i]));
    engine.run(tasks);
    CAPTURE(tokens, name_of(arithmetic));
    CHECK(shared->length() == longer.prompt.size());
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (Rung k = 0; k < ladder.rungs(); ++k)
        REQUIRE(same_record(progress[i].replicas[k], all.front()[i].replicas[k]));
    // What follows a prompt is the same too, so that the number of all shows that of the prompt.
    static std::uint64_t computed = 0;
    if (all.size() == 1) computed = model->tokens_computed() - before;
    CHECK(model->tokens_computed() - before == computed);
  }
}

TEST_CASE("runs of other prompts, ladders, seeds and samplers share a batch and change nothing") {
  const auto model = random_qwen3(small_config(), 2);
  const std::vector<Context> contexts{{{2, 3, 4, 3}, {0}}, {{4, 4}, {0, 1}}};
  const std::vector<Ladder> ladders{Ladder({1.0, 2.0, 3.0}), Ladder({2.0}), Ladder({0.5, 4.0})};
  const Plan plan{make_stages(6, 3, {2}, {1}, {1}), Schedule::deo, 0};
  struct Member {
    std::size_t context, ladder;
    std::uint64_t seed;
    bool truncating, measured;
  };
  const std::vector<Member> members{{0, 0, 1, false, false}, {1, 0, 1, false, true},
                                    {0, 1, 1, false, false}, {0, 1, 1, true, true},
                                    {1, 2, 9, false, true},  {0, 2, 8, true, false}};
  std::uint64_t batches_alone = 0;
  const auto run = [&](std::span<const Member> company) {
    PhiloxLottery lottery;
    const auto rows = make_device_row_lottery();
    Engine engine(*model, *rows, lottery);
    std::vector<Chain> runs;
    runs.reserve(company.size());
    std::vector<Progress> progress(company.size());
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < company.size(); ++i) {
      const Member& member = company[i];
      runs.push_back({engine, contexts[member.context], ladders[member.ladder], member.seed});
      runs.back().options.confidence = member.measured;
      tasks.push_back(member.truncating ? truncating_power_sampling(runs[i], plan, progress[i])
                                        : parallel_power_tempering(runs[i], plan, progress[i]));
    }
    engine.run(tasks);
    return std::pair(std::move(progress), engine.batches());
  };
  const auto [together, batches_together] = run(members);
  for (std::size_t i = 0; i < members.size(); ++i) {
    CAPTURE(i);
    const auto [alone, batches] = run(std::span(members).subspan(i, 1));
    batches_alone += batches;
    for (Rung k = 0; k < ladders[members[i].ladder].rungs(); ++k) {
      CHECK(same_record(together[i].replicas[k], alone[0].replicas[k]));
      // What its neighbours ask to be measured is not measured of a run that does not ask.
      CHECK(together[i].replicas[k].confidence() == alone[0].replicas[k].confidence());
      CHECK((alone[0].replicas[k].confidence() != 0.0) == members[i].measured);
    }
  }
  CHECK(batches_together < batches_alone);
}

TEST_CASE("score_record computes what the sampler has kept, on a table and on a transformer") {
  const auto transformer = random_qwen3(small_config(5), 2);
  TableModel table = scattered_table(5, 2);
  for (LanguageModel* model :
       {static_cast<LanguageModel*>(transformer.get()), static_cast<LanguageModel*>(&table)}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      PhiloxLottery lottery;
      SmallRun small(*model, context, {1.0, 2.5}, lottery, seed);
      Record x(context, model->empty_cache());
      small.finish(extend(x, small.turn(1), 6));
      CHECK(same_record(x, small.scored(6, x.token_ids())));
      CHECK(owns_its_cache(*model, x));
    }
  }
}

TEST_CASE("score_record refuses what is not a record") {
  const float infinity = std::numeric_limits<float>::infinity();
  TableModel model = with_row_after_1({0.0F, -infinity, 0.0F});
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0}, lottery);
  CHECK_THROWS_AS(small.scored(3, {1, 1}), ImpossibleToken);
  CHECK_THROWS_AS(small.scored(3, {0, 1}), ImpossibleToken);
  CHECK_THROWS_AS(small.scored(1, {1, 2}), ImpossibleToken);
  CHECK(small.scored(3, {}).length() == 0);
}

namespace {

/// What came of samplers that were added to one engine.
struct Comings {
  explicit Comings(LanguageModel& model, std::size_t largest_batch = 64)
      : rows(make_device_row_lottery()), engine(model, *rows, lottery, largest_batch) {}
  /// Adds an extension of a new record to `horizon`, drawn at the addresses of this sample.
  Engine::TaskId add(std::uint32_t sample, std::size_t horizon) {
    auto& one = members[sample];
    one = std::make_unique<Member>(Member{{engine, context, ladder, 7, 0, sample},
                                          Record(context, engine.model().empty_cache())});
    return engine.add(
        extend(one->record, Turn(one->run, 0, 0, Purpose::extension_token), horizon),
        [this, sample](const std::exception_ptr& why) { ended.emplace_back(sample, why); });
  }
  struct Member {
    Chain run;
    Record record;
  };
  const Context context{{2}, {}};
  const Ladder ladder{{1.0}};
  std::unique_ptr<RowLottery> rows;
  PhiloxLottery lottery;
  std::map<std::uint32_t, std::unique_ptr<Member>> members;
  std::vector<std::pair<std::uint32_t, std::exception_ptr>> ended;
  Engine engine;
};

std::vector<TokenId> drawn_alone(LanguageModel& model, std::uint32_t sample, std::size_t horizon) {
  Comings alone(model);
  alone.add(sample, horizon);
  while (alone.engine.step()) {
  }
  return alone.members[sample]->record.token_ids();
}

/// A table of nine tokens whose row after one text has a NaN.
TableModel broken_after(TableModel& sound, const std::vector<TokenId>& text) {
  return TableModel(9, [&sound, text](std::span<const TokenId> prefix) {
    const auto cache = sound.empty_cache();
    DeviceMemory<float> rows;
    const Pass pass{cache.get(), prefix};
    sound.next_logits(std::span(&pass, 1), rows);
    std::vector<float> row = rows.download(0, 9);
    if (std::ranges::equal(prefix, text)) row[7] = std::numeric_limits<float>::quiet_NaN();
    return row;
  });
}

}  // namespace

TEST_CASE("samplers come and go while the engine works, and the others keep their bits") {
  TableModel model = scattered_table(9, 4);
  for (const std::size_t batch : {1, 3, 64}) {
    CAPTURE(batch);
    Comings all(model, batch);
    CHECK_FALSE(all.engine.step());
    std::vector<Engine::TaskId> ids;
    for (std::uint32_t s = 0; s < 10; ++s) {
      ids.push_back(all.add(s, 12));
      if (s % 3 == 0) CHECK(all.engine.step());
    }
    all.engine.remove(ids[9]);
    all.engine.remove(ids[4]);
    all.engine.remove(ids[4]);
    all.engine.remove(999);
    const std::size_t length = all.members[4]->record.length();
    while (all.engine.step()) {
    }
    CHECK(all.members[4]->record.length() == length);
    CHECK(all.ended.size() + 2 >= 10);
    for (std::uint32_t s = 0; s < 9; ++s) {
      if (s == 4) continue;
      CAPTURE(s);
      CHECK(all.members[s]->record.token_ids() == drawn_alone(model, s, 12));
    }
    for (const auto& [sample, why] : all.ended) {
      CHECK(sample != 9);
      CHECK(why == nullptr);
    }
  }
}

TEST_CASE("a sampler that removes itself and others goes on only to its next request") {
  TableModel model = scattered_table(9, 4);
  Comings all(model);
  std::vector<Engine::TaskId> ids;
  bool has_ended = false;
  const auto removing = [&](Record& record, Chain& run) -> Task {
    co_await extend(record, Turn(run, 0, 0, Purpose::extension_token), 2);
    for (const Engine::TaskId id : ids) all.engine.remove(id);
    record.raise_horizon(9);
    record.append(co_await Turn(run, 0, 1, Purpose::extension_token).next_token(record));
    has_ended = true;
  };
  const Context context{{2}, {}};
  Chain run{all.engine, context, all.ladder};
  Record record(context, model.empty_cache());
  ids.push_back(all.engine.add(removing(record, run)));
  ids.push_back(all.add(1, 50));
  all.add(2, 50);
  while (all.engine.step()) {
  }
  CHECK_FALSE(has_ended);
  CHECK(record.length() == 2);
  CHECK(all.members[1]->record.length() <= 3);
  REQUIRE(all.ended.size() == 1);
  CHECK(all.ended[0].first == 2);
  CHECK(all.members[2]->record.token_ids() == drawn_alone(model, 2, 50));
}

TEST_CASE("a row that cannot be drawn from fails one sampler, which is told") {
  // After five tokens the second sampler's text is broken.
  TableModel sound = scattered_table(9, 4);
  const std::vector<TokenId> broken_text = drawn_alone(sound, 1, 5);
  REQUIRE(broken_text.size() == 5);
  std::vector<TokenId> broken = context.prompt;
  broken.insert(broken.end(), broken_text.begin(), broken_text.end());
  TableModel model = broken_after(sound, broken);
  Comings all(model, 3);
  for (std::uint32_t s = 0; s < 4; ++s) all.add(s, 12);
  while (all.engine.step()) {
  }
  REQUIRE(all.ended.size() == 4);
  for (const auto& [sample, why] : all.ended) {
    CAPTURE(sample);
    CHECK((why != nullptr) == (sample == 1));
    if (sample != 1)
      CHECK(all.members[sample]->record.token_ids() == drawn_alone(sound, sample, 12));
  }
  CHECK(all.members[1]->record.token_ids() == broken_text);
}

TEST_CASE("log z is asked for in the batches of those that draw, each at its own powers") {
  TableModel sound = scattered_table(9, 4);
  const std::vector<TokenId> broken{2, 7};
  TableModel model = broken_after(sound, broken);
  const std::vector<std::vector<TokenId>> texts{{2}, {2, 1}, broken, {2, 5}, {2, 8, 8}};
  const std::vector<std::vector<double>> powers{{2}, {1, 3, 4.5}, {2}, {1.5, 2}, {8}};
  const auto rows = make_host_row_lottery();
  for (const std::size_t largest : {1, 3, 64}) {
    CAPTURE(largest);
    Comings all(model, largest);
    std::vector<std::unique_ptr<Cache>> caches;
    std::vector<std::vector<double>> answers(texts.size());
    std::vector<bool> failed(texts.size(), false);
    const auto asks = [&](std::size_t i) -> Task {
      answers[i] = co_await all.engine.log_normalizers(
          *caches[i], texts[i].size(),
          [&, i] {
            // What a pass that failed has left in the cache.
            const auto cached = static_cast<std::ptrdiff_t>(caches[i]->length());
            return std::vector<TokenId>(texts[i].begin() + cached, texts[i].end());
          },
          powers[i]);
    };
    all.add(0, 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      caches.push_back(model.empty_cache());
      all.engine.add(asks(i),
                     [&, i](const std::exception_ptr& why) { failed[i] = why != nullptr; });
    }
    all.add(1, 1);
    while (all.engine.step()) {
    }
    CHECK(all.engine.decode_tokens() == 2);
    for (std::uint32_t s = 0; s < 2; ++s)
      CHECK(all.members[s]->record.token_ids() == drawn_alone(sound, s, 1));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CAPTURE(i);
      CHECK(failed[i] == (i == 2));
      if (failed[i]) continue;
      const auto cache = sound.empty_cache();
      DeviceMemory<float> logits;
      const Pass pass{cache.get(), texts[i]};
      sound.next_logits(std::span(&pass, 1), logits);
      CHECK(answers[i] == rows->log_normalizers(logits, 9, 1, powers[i]));
    }
  }
}

TEST_CASE("ten samplers that ask for log z take one pass") {
  TableModel model = scattered_table(9, 4);
  Comings all(model, 64);
  std::vector<std::unique_ptr<Cache>> caches;
  const std::vector<TokenId> text{2};
  const std::vector<double> powers{2};
  std::size_t answered = 0;
  const auto asks = [&](std::size_t i) -> Task {
    answered += (co_await all.engine.log_normalizers(
                     *caches[i], 1, [&] { return text; }, powers))
                    .size();
  };
  for (std::size_t i = 0; i < 10; ++i) {
    caches.push_back(model.empty_cache());
    all.engine.add(asks(i));
  }
  while (all.engine.step()) {
  }
  CHECK(answered == 10);
  CHECK(all.engine.batches() == 1);
}

}  // namespace tempera::gpu::engine_test
