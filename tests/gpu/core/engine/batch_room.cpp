// Who of those that wait has memory for its cache.
#include <optional>

#include "gpu/core/model/accounted_model.hpp"
#include "gpu/core/model/no_room.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/gpu/session/counted_model.hpp"

namespace tempera::gpu::batch_room_test {
namespace {

const Context context{{2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6}, {}};
constexpr std::size_t token_bytes = 10;
constexpr std::size_t prompt_bytes = 20 * token_bytes;

/// Records that are extended at the same time, each a fork of one prompt, made in their order.
struct Extended {
  explicit Extended(const CacheBudget& budget, std::size_t records,
                    WorkOrder order = WorkOrder::first_come, std::size_t largest_batch = 64)
      : account(std::make_shared<CacheAccount>(budget)),
        model(table, account),
        rows(make_device_row_lottery()),
        engine(model, *rows, lottery, largest_batch, order),
        run{engine, context, ladder, 7},
        prompt(model.empty_cache()) {
    engine.keep_within(*account);
    const Pass pass{prompt.get(), context.prompt};
    DeviceMemory<float> logits;
    model.next_logits(std::span(&pass, 1), logits);
    for (std::size_t i = 0; i < records; ++i)
      all.emplace_back(context, prompt->fork(context.prompt.size()));
    failures.resize(records);
  }
  /// Later ones ask first.
  void add(std::size_t horizon) {
    for (std::size_t i = all.size(); i-- > 0;)
      engine.add(extend(all[i], Turn(run, i, 0, Purpose::extension_token), horizon),
                 [this, i](const std::exception_ptr& why) { failures[i] = why; });
  }

  CountedModel table{token_bytes};
  std::shared_ptr<CacheAccount> account;
  AccountedModel model;
  std::unique_ptr<RowLottery> rows;
  PhiloxLottery lottery;
  const Ladder ladder{{1.0, 2.0, 3.0, 4.0}};
  Engine engine;
  Chain run;
  std::shared_ptr<Cache> prompt;
  std::vector<Record> all;
  std::vector<std::exception_ptr> failures;
};

Task compute(Engine& engine, Cache& cache, const std::vector<TokenId>& prefix) {
  co_await engine.compute(cache, prefix);
}

/// A record, and another from its second token on, drawn while the first is idle.
struct Refreshed {
  explicit Refreshed(const CacheBudget& budget)
      : account(std::make_shared<CacheAccount>(budget)),
        accounted(*model, account),
        small(accounted, short_context, {1.0, 2.0}, lottery),
        prompt(accounted.empty_cache()) {
    small.engine.keep_within(*account);
    const Pass pass{prompt.get(), short_context.prompt};
    DeviceMemory<float> logits;
    accounted.next_logits(std::span(&pass, 1), logits);
    x.emplace(short_context, prompt->fork(short_context.prompt.size()));
    small.finish(extend(*x, small.turn(0), 4));
    y.emplace(x->prefix_before(2));
    copied = y->cache().bytes_to_reach(short_context.prompt.size() + 2);
    small.finish(extend(*y, small.turn(1, 1), 4));
  }
  const Context short_context{{2, 3, 4, 5, 6}, {}};
  std::unique_ptr<Transformer> model = random_qwen3(small_config(), 5);
  std::shared_ptr<CacheAccount> account;
  AccountedModel accounted;
  PhiloxLottery lottery;
  SmallRun small;
  std::unique_ptr<Cache> prompt;
  std::optional<Record> x, y;
  std::size_t copied = 0;
};

}  // namespace

TEST_CASE("the record with the oldest cache draws in every step, and the others as there is room") {
  constexpr std::size_t horizon = 12;
  Extended free({}, 4);
  free.add(horizon);
  std::size_t steps = 0;
  while (free.engine.step()) ++steps;
  CHECK(free.engine.tokens_recomputed() == 0);
  for (const std::size_t room : {horizon, horizon + 5, 3 * horizon}) {
    for (const auto order : {WorkOrder::first_come, WorkOrder::last_come}) {
      CAPTURE(room);
      Extended little({prompt_bytes + room * token_bytes, true}, 4, order);
      little.add(horizon);
      std::size_t made = 0;
      bool is_more = true;
      while (is_more) {
        is_more = little.engine.step();
        ++made;
        REQUIRE(made < 200);
        CHECK(little.all[0].length() == std::min(made, horizon));
        // None overtakes a record whose cache is older for want of memory alone.
        for (std::size_t i = 1; i < little.all.size(); ++i)
          CHECK(little.all[i].length() <= little.all[i - 1].length());
      }
      CHECK(made > steps);
      CHECK(little.account->most_held() <= prompt_bytes + room * token_bytes);
      CHECK(little.engine.tokens_recomputed() > 0);
      for (std::size_t i = 0; i < 4; ++i) CHECK(same_record(little.all[i], free.all[i]));
    }
  }
}

TEST_CASE("a record that does not fit alone fails, and no other") {
  Extended little({prompt_bytes + 5 * token_bytes, true}, 3);
  for (std::size_t i = 0; i < 3; ++i)
    little.engine.add(
        extend(little.all[i], Turn(little.run, i, 0, Purpose::extension_token), i == 0 ? 9 : 5),
        [&little, i](const std::exception_ptr& why) { little.failures[i] = why; });
  while (little.engine.step()) {
  }
  CHECK(little.all[1].length() == 5);
  CHECK(little.all[2].length() == 5);
  CHECK(little.all[0].length() == 6);  // the last token of a record is not computed
  CHECK_FALSE(little.failures[1]);
  REQUIRE(little.failures[0]);
  require_bad_input([&] { std::rethrow_exception(little.failures[0]); },
                    {"cache memory", "250 bytes cannot hold a text of 26 tokens"});
  CHECK(little.account->most_held() <= prompt_bytes + 5 * token_bytes);
  // Where the memory was not given, it is drawn all the same.
  Extended guessed({prompt_bytes + 5 * token_bytes, false}, 3);
  guessed.add(9);
  while (guessed.engine.step()) {
  }
  for (const Record& record : guessed.all) CHECK(record.length() == 9);
}

TEST_CASE(
    "the page that a record shares with an idle one alone becomes its own under least memory") {
  Refreshed free({});
  const std::size_t page = free.model->cache_bytes(1);
  CHECK(free.copied == page);
  CHECK(free.account->most_held() == 3 * page);
  // The prompt's page, and the record's.
  Refreshed little({2 * page, true});
  CHECK(little.account->most_held() == 2 * page);
  CHECK(same_record(*little.x, *free.x));
  CHECK(same_record(*little.y, *free.y));
  CHECK(little.x->cache().length() == 0);
}

TEST_CASE("all who ask for one prefix wait for its memory together") {
  Extended little({prompt_bytes + 25 * token_bytes, true}, 1, WorkOrder::last_come);
  little.add(12);
  for (std::size_t made = 0; made < 6; ++made) little.engine.step();
  // The prefix comes first, and then the record, whose cache is older and has grown to 5 tokens.
  const auto prefix = little.model.empty_cache();
  for (std::size_t i = 0; i < 2; ++i)
    little.engine.add(compute(little.engine, *prefix, context.prompt));
  little.engine.step();
  CHECK(prefix->length() == 0);
  while (little.engine.step()) {
  }
  CHECK(little.all[0].length() == 12);
  CHECK(prefix->length() == context.prompt.size());
  CHECK(little.account->most_held() <= prompt_bytes + 25 * token_bytes);
}

TEST_CASE("all who ask for one prefix give way together to the oldest record of another client") {
  Extended little({prompt_bytes + 25 * token_bytes, true}, 1);
  little.engine.add(extend(little.all[0], Turn(little.run, 0, 0, Purpose::extension_token), 12), {},
                    {1, 1});
  for (std::size_t made = 0; made < 6; ++made) little.engine.step();
  const auto prefix = little.model.empty_cache();
  for (const std::uint64_t client : {2, 3})
    little.engine.add(compute(little.engine, *prefix, context.prompt), {}, {client, 1});
  little.engine.step();
  CHECK(prefix->length() == 0);
  CHECK(little.all[0].length() == 7);
  while (little.engine.step()) {
  }
  CHECK(little.all[0].length() == 12);
  CHECK(prefix->length() == context.prompt.size());
  CHECK(little.account->most_held() <= prompt_bytes + 25 * token_bytes);
}

TEST_CASE("clients have memory for equal numbers of records, and the oldest of all is never late") {
  constexpr std::size_t horizon = 12;
  // The first client has six of eight records, and all the older ones.
  const auto add = [](Extended& all) {
    for (std::size_t i = 0; i < 8; ++i)
      all.engine.add(
          extend(all.all[i], Turn(all.run, i % 4, i / 4, Purpose::extension_token), horizon), {},
          {i < 6 ? 1U : 2U, 1});
  };
  Extended free({}, 8);
  add(free);
  while (free.engine.step()) {
  }
  // Room for four whole records.
  Extended little({prompt_bytes + 4 * horizon * token_bytes, true}, 8);
  add(little);
  for (std::size_t made = 1; made <= horizon; ++made) {
    little.engine.step();
    CHECK(little.all[0].length() == made);
    CHECK(little.all[6].length() == made);
    CHECK(little.all[7].length() == made);
  }
  while (little.engine.step()) {
  }
  CHECK(little.account->most_held() <= prompt_bytes + 4 * horizon * token_bytes);
  for (std::size_t i = 0; i < 8; ++i) CHECK(same_record(little.all[i], free.all[i]));
}

TEST_CASE("a long text is computed in pieces before its token is drawn") {
  Extended whole({}, 1);
  whole.add(3);
  while (whole.engine.step()) {
  }
  Extended pieces({}, 1);
  pieces.engine.compute_prefixes_by(7);
  pieces.all.clear();
  pieces.all.emplace_back(context, pieces.prompt->fork(0));
  pieces.table.longest_pass = 0;
  pieces.add(3);
  while (pieces.engine.step()) {
  }
  CHECK(same_record(pieces.all[0], whole.all[0]));
  CHECK(pieces.table.longest_pass == 7);
  CHECK(pieces.engine.batches() == whole.engine.batches() + 2);
}

}  // namespace tempera::gpu::batch_room_test
