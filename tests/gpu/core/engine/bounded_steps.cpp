// A step is one pass and a bounded amount of work beside it, whatever a sampler does; and a pass
// that finds no memory ends those who need it, and nobody else.
#include <array>
#include <memory>
#include <new>

#include "gpu/core/model/forwarding_model.hpp"
#include "gpu/core/model/no_room.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu::bounded_steps_test {
namespace {

const Context context{{2}, {0}};

Task busy(Engine& engine, std::size_t pieces, std::size_t work, std::size_t& done) {
  for (std::size_t i = 0; i < pieces; ++i) {
    ++done;
    co_await engine.pause(work);
  }
}

/// Draws tokens one after the other, and counts them.
Task drawing(Record& x, SmallRun& small, std::size_t number) {
  return extend(x, Turn(small.run, number, 0, Purpose::extension_token), x.horizon() + 6);
}

}  // namespace

TEST_CASE("samplers that ask for no pass take turns in steps of bounded work", "[engine]") {
  TableModel model = scattered_table(5, 1);
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0}, lottery);
  std::array<std::size_t, 3> done{};
  std::vector<Engine::TaskId> tasks;
  std::size_t ended = 0;
  for (std::size_t& count : done)
    tasks.push_back(small.engine.add(busy(small.engine, 100, 1000, count),
                                     [&](const std::exception_ptr&) { ++ended; }));
  std::size_t steps = 0;
  std::size_t before = 0;
  for (bool goes_on = true; goes_on; ++steps) {
    if (steps == 20) small.engine.remove(tasks[1]);  // in the middle of its work
    goes_on = small.engine.step();
    const std::size_t now = done[0] + done[1] + done[2];
    CHECK(now - before <= 5 + done.size());
    before = now;
  }
  CHECK(done[0] == 100);
  CHECK(done[1] < 100);
  CHECK(done[2] == 100);
  CHECK(ended == 2);
  CHECK(steps > 30);
  CHECK(small.engine.batches() == 0);
}

TEST_CASE("rounds without moves, moves without proposals and sweeps end no step late",
          "[engine][unsanitized]") {
  // After token 1 comes 0, which ends a record: its proposals begin at position 1 in one of 2^20.
  TableModel model(3, [](std::span<const TokenId>) {
    return std::vector<float>{8.0F, -8.0F, -8.0F};
  });
  const std::vector<std::uint64_t> at_the_end{1, 0xffff'ffff};
  const std::vector<Plan> plans{
      {{{4, 50000, 0, 0}}, Schedule::adj, 0},
      {{{4, 1, 0, 50000}}, Schedule::adj, 0},
      {{{4, 1, 50000, 0}}, Schedule::adj, 0, 0, at_the_end},
      {std::vector<Stage>(50000, Stage{4, 0, 0, 0}), Schedule::adj, 0},
  };
  for (std::size_t which = 0; which < plans.size(); ++which) {
    CAPTURE(which);
    PhiloxLottery lottery;
    SmallRun small(model, context, {1.0, 2.0, 4.0}, lottery);
    Progress progress;
    small.run.options.prefetch = 8;
    small.engine.add(parallel_power_tempering(small.run, plans[which], progress, nullptr));
    std::size_t steps = 0;
    while (small.engine.step()) ++steps;
    CHECK(steps > 20);
    CHECK(progress.stage == plans[which].stages.size());
  }
}

TEST_CASE("no more moves begin ahead than a batch has rows left, whatever is allowed",
          "[engine][unsanitized]") {
  struct Counting final : ForwardingModel {
    using ForwardingModel::ForwardingModel;
    std::unique_ptr<Cache> empty_cache() const override {
      return std::make_unique<Counted>(ForwardingModel::empty_cache(), alive, most);
    }
    void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
      std::vector<Pass> inner;
      for (const Pass& pass : passes)
        inner.push_back({dynamic_cast<Counted&>(*pass.cache).inner.get(), pass.tokens});
      ForwardingModel::next_logits(inner, rows);
    }
    struct Counted final : Cache {
      Counted(std::unique_ptr<Cache> its, std::size_t& its_alive, std::size_t& its_most)
          : inner(std::move(its)), alive(its_alive), most(its_most) {
        most = std::max(most, ++alive);
      }
      Counted(const Counted&) = delete;
      Counted& operator=(const Counted&) = delete;
      ~Counted() override { --alive; }
      std::size_t length() const override { return inner->length(); }
      std::unique_ptr<Cache> fork(std::size_t length) const override {
        return std::make_unique<Counted>(inner->fork(length), alive, most);
      }
      std::unique_ptr<Cache> inner;
      std::size_t& alive;
      std::size_t& most;
    };
    mutable std::size_t alive = 0;
    mutable std::size_t most = 0;
  };
  TableModel table = scattered_table(7, 3);
  for (const std::size_t largest : {1, 3, 16}) {
    CAPTURE(largest);
    std::vector<std::vector<TokenId>> answers;
    for (const std::size_t prefetch : {std::size_t{0}, std::size_t{5}, SIZE_MAX}) {
      Counting model(table);
      PhiloxLottery lottery;
      SmallRun small(model, context, {1.5, 3.0}, lottery, 7, largest);
      small.run.options.prefetch = prefetch;
      const Plan plan{{{6, 40, 25, 1}}, Schedule::adj, 1};
      Progress progress;
      small.finish(parallel_power_tempering(small.run, plan, progress, nullptr));
      answers.push_back(progress.replicas[1].token_ids());
      // The prompt, two records and their proposals, and of each rung so many ahead.
      CHECK(model.most <= 1 + 2 + 2 + 2 * std::min<std::size_t>(prefetch, largest));
      progress.replicas.clear();
    }
    CHECK(answers[1] == answers[0]);
    CHECK(answers[2] == answers[0]);
  }
}

namespace {

/// A model whose memory runs out at some passes.
struct Poor final : ForwardingModel {
  using ForwardingModel::ForwardingModel;
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
    ++calls;
    if (passes.size() > room) throw NoRoom("the memory of the device", "is full", "ask for less");
    if (calls == breaks_at) throw std::bad_alloc();
    for (const Pass& pass : passes)
      if (pass.cache == too_large)
        throw NoRoom("the memory of the device", "is full", "ask for less");
    ForwardingModel::next_logits(passes, rows);
  }
  std::size_t room = SIZE_MAX;
  std::size_t breaks_at = 0;
  std::size_t calls = 0;
  const Cache* too_large = nullptr;
};

struct Four {
  explicit Four(Poor& model) : small(model, context, {1.0}, lottery) {
    for (std::size_t i = 0; i < 4; ++i) records.emplace_back(context, model.empty_cache());
    for (std::size_t i = 0; i < 4; ++i)
      small.engine.add(drawing(records[i], small, i),
                       [this, i](const std::exception_ptr& why) { failures[i] = why; });
  }
  void finish() {
    while (small.engine.step()) {
    }
  }
  std::vector<std::vector<TokenId>> tokens() const {
    std::vector<std::vector<TokenId>> all;
    for (const Record& record : records) all.push_back(record.token_ids());
    return all;
  }

  PhiloxLottery lottery;
  SmallRun small;
  std::vector<Record> records;
  std::array<std::exception_ptr, 4> failures{};
};

}  // namespace

TEST_CASE("a batch that finds no room is answered row by row, and who fits alone has the same bits",
          "[engine]") {
  TableModel table = scattered_table(5, 1);
  Poor rich(table);
  Four plain(rich);
  plain.finish();
  Poor narrow(table);
  narrow.room = 1;
  Four one_by_one(narrow);
  one_by_one.finish();
  CHECK(one_by_one.tokens() == plain.tokens());
  for (const auto& failure : one_by_one.failures) CHECK(failure == nullptr);

  Poor full(table);
  Four partly(full);
  full.too_large = &partly.records[2].cache();
  partly.finish();
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    if (i != 2) CHECK(partly.records[i].token_ids() == plain.records[i].token_ids());
    CHECK((partly.failures[i] != nullptr) == (i == 2));
  }
  CHECK_THROWS_AS(std::rethrow_exception(partly.failures[2]), NoRoom);
}

TEST_CASE("memory that runs out in the middle of a pass ends its batch, and no later one",
          "[engine]") {
  TableModel table = scattered_table(5, 1);
  Poor rich(table);
  Four plain(rich);
  plain.finish();
  Poor broken(table);
  broken.breaks_at = 3;
  Four ended(broken);
  ended.finish();
  std::size_t failed = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    // Those that had ended before have their tokens.
    const bool was_there = plain.records[i].length() >= broken.breaks_at;
    CHECK((ended.failures[i] != nullptr) == was_there);
    if (!was_there) CHECK(ended.records[i].token_ids() == plain.records[i].token_ids());
    if (ended.failures[i] == nullptr) continue;
    CHECK_THROWS_AS(std::rethrow_exception(ended.failures[i]), std::bad_alloc);
    ++failed;
  }
  CHECK(failed > 0);
  Record after(context, broken.empty_cache());
  ended.small.engine.add(drawing(after, ended.small, 0));
  ended.finish();
  CHECK(after.token_ids() == plain.records[0].token_ids());
}

}  // namespace tempera::gpu::bounded_steps_test
