#include "gpu/core/sampler/parallel_power_tempering.hpp"

#include <set>
#include <tuple>

#include "gpu/core/sampler/progress.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu::parallel_power_tempering_test {
namespace {

const Context context{{7, 8, 9, 10}, {0, 1}};

/// Keeps every event, and holds each moment's records against what must be true of them.
struct Witness final : Observer {
  explicit Witness(Transformer& its_model) : model(its_model) {}
  void round_ended(const Progress& progress, std::span<const Event> now) override {
    ++moments;
    events.insert(events.end(), now.begin(), now.end());
    const std::uint64_t before = model.tokens_computed();
    for (const Record& record : progress.replicas) {
      CHECK((record.terminated() || record.length() == record.horizon()));
      CHECK(owns_its_cache(model, record));
    }
    tokens_judged += model.tokens_computed() - before;
  }
  std::size_t count(Event::Kind kind) const {
    return static_cast<std::size_t>(std::count_if(
        events.begin(), events.end(), [&](const Event& event) { return event.kind == kind; }));
  }
  Transformer& model;
  std::uint64_t tokens_judged = 0;  ///< what the judging itself computed
  std::vector<Event> events;
  std::size_t moments = 0;
};

struct Finished {
  Witness witness;
  Progress progress;
};

Finished run(Transformer& model, const std::vector<double>& powers, const Plan& plan,
             std::uint64_t seed) {
  PhiloxLottery lottery;
  SmallRun small(model, context, powers, lottery, seed);
  Finished finished{Witness(model), {}};
  small.finish(parallel_power_tempering(small.run, plan, finished.progress, &finished.witness));
  for (const Record& record : finished.progress.replicas) {
    CHECK(record.horizon() == plan.stages.back().horizon);
    CHECK(same_record(record, small.scored(plan.stages.back().horizon, record.token_ids())));
  }
  return finished;
}

}  // namespace

TEST_CASE("Algorithm 1 makes the moves of its plan, each once") {
  const auto model = random_qwen3(small_config(), 3);
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    const Plan plan{make_stages(9, 4, {2, 0, 3}, {2, 1, 1}, {1, 1, 2}), schedule, 2};
    const Finished finished = run(*model, {1.0, 2.0, 4.0}, plan, 11);
    const Witness& witness = finished.witness;
    CHECK(witness.moments == 3 + 2 + 0 + 3);
    CHECK(witness.count(Event::Kind::extension) == 3 * 3);
    CHECK(witness.count(Event::Kind::local_move) == 3 * (2 * 2 + 0 * 1 + 3 * 1));
    // Two edges: an ordered sweep attempts both, a parity layer one.
    CHECK(witness.count(Event::Kind::swap) ==
          (2 * 1 + 3 * 2) * (schedule == Schedule::adj ? 2U : 1U));
    CHECK(finished.progress.stage == 3);
    CHECK(finished.progress.local_moves == 2 * 2 + 3 * 1);
    CHECK(finished.progress.sweeps == 2 * 1 + 3 * 2);
    // Kind, turn and rung are what the draws are addressed by: no two moves may share them.
    std::set<std::tuple<Event::Kind, std::uint32_t, Rung>> turns;
    for (const Event& event : witness.events)
      CHECK(turns.insert({event.kind, event.turn, event.rung}).second);
  }
}

TEST_CASE("one rung, and stages without sweeps, are a plain fixed-horizon chain") {
  const auto model = random_qwen3(small_config(), 3);
  const Plan plan{make_stages(8, 8, {5}, {1}, {3}), Schedule::adj, 0};
  const Witness alone = run(*model, {2.0}, plan, 12).witness;
  CHECK(alone.count(Event::Kind::swap) == 0);
  CHECK(alone.count(Event::Kind::local_move) == 5);
  const Plan unswapped{make_stages(8, 8, {5}, {1}, {0}), Schedule::adj, 0};
  const Finished ladder = run(*model, {2.0, 3.0}, unswapped, 12);
  CHECK(ladder.witness.count(Event::Kind::swap) == 0);
  CHECK(ladder.witness.count(Event::Kind::local_move) == 10);
  // Without swaps rung 1 knows nothing of rung 2.
  CHECK(ladder.progress.replicas[0].token_ids() ==
        run(*model, {2.0}, plan, 12).progress.replicas[0].token_ids());
}

TEST_CASE("over the records' own positions every local move of a run proposes something") {
  const auto model = random_qwen3(small_config(), 3);
  for (const RestartRange range : {RestartRange::horizon, RestartRange::record}) {
    const Plan plan{make_stages(14, 7, {9, 9}, {2, 2}, {1, 1}), Schedule::adj, 1, 0, {}, range};
    const Witness witness = run(*model, {1.0, 2.0}, plan, 15).witness;
    std::size_t unproposed = 0;
    for (const Event& event : witness.events)
      if (event.kind == Event::Kind::local_move && !event.proposed) ++unproposed;
    // A record that has ended proposes nothing from a position after its end.
    CHECK((unproposed == 0) == (range == RestartRange::record));
  }
}

TEST_CASE("early rejection leaves a run over the records' own positions as it is") {
  struct Kept final : Observer {
    void round_ended(const Progress&, std::span<const Event> now) override {
      events.insert(events.end(), now.begin(), now.end());
    }
    std::vector<Event> events;
  };
  const Context own{{2}, {0, 1}};
  // A record that ends at once has one ticket, and others have 31 and more: a bound that takes
  // every proposal to be long rejects what is accepted.
  const Plan plan{
      make_stages(4, 4, {12}, {1}, {1}), Schedule::adj, 1, 0, {1, 30, 1, 1}, RestartRange::record};
  std::size_t early = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    TableModel model = scattered_table(5, seed);
    PhiloxLottery lottery;
    Kept kept[2];
    Progress progress[2];
    for (const bool is_early : {false, true}) {
      SmallRun small(model, own, {1.0, 6.0}, lottery, seed);
      small.run.options.early_rejection = is_early;
      small.finish(parallel_power_tempering(small.run, plan, progress[is_early], &kept[is_early]));
    }
    REQUIRE(kept[0].events.size() == kept[1].events.size());
    for (std::size_t i = 0; i < kept[0].events.size(); ++i) {
      REQUIRE(kept[0].events[i].accepted == kept[1].events[i].accepted);
      if (kept[1].events[i].early) ++early;
    }
    for (Rung k = 0; k < 2; ++k)
      REQUIRE(same_record(progress[0].replicas[k], progress[1].replicas[k]));
  }
  CHECK(early > 50);
}

// The prompt once for all rungs. Of a proposal's n tokens the last is only asked for by a later
// move, and the prefix before r is in the cache that was forked: n − 1 tokens go through the
// layers. A block extension first computes the record's last token, unless the record is empty.
TEST_CASE("a run computes no retained token twice") {
  const auto model = random_qwen3(small_config(), 3);
  const std::vector<double> powers{1.0, 2.0, 4.0};
  const Plan plan{make_stages(14, 5, {4}, {2}, {1}), Schedule::adj, 2};
  PhiloxLottery lottery;
  SmallRun small(*model, context, powers, lottery, 13);
  Witness witness(*model);
  Progress progress;
  small.finish(parallel_power_tempering(small.run, plan, progress, &witness));
  std::uint64_t expected = context.prompt.size();
  std::uint64_t drawn = 0;
  std::size_t retained = 0;
  for (const Event& event : witness.events) {
    drawn += event.tokens;
    if (event.tokens == 0) continue;
    const bool on_a_record = event.kind == Event::Kind::extension && event.turn > 0;
    expected += event.tokens - (on_a_record ? 0 : 1);
    if (event.restart > 1) ++retained;
  }
  CHECK(retained > 0);
  CHECK(model->tokens_computed() - witness.tokens_judged == expected);
  CHECK(small.engine.decode_tokens() == drawn);
}

TEST_CASE("a run that was cut between rounds goes on to the same records") {
  const auto model = random_qwen3(small_config(), 3);
  const std::vector<double> powers{1.0, 3.0};
  const Plan plan{make_stages(9, 3, {2}, {1}, {1}), Schedule::deo, 1};
  const Finished whole = run(*model, powers, plan, 14);
  struct Cut {};
  struct Cutter final : Observer {
    explicit Cutter(std::size_t moments) : left(moments) {}
    void round_ended(const Progress&, std::span<const Event>) override {
      if (--left == 0) throw Cut{};
    }
    std::size_t left;
  };
  for (std::size_t moment = 1; moment <= whole.witness.moments; ++moment) {
    CAPTURE(moment);
    PhiloxLottery lottery;
    SmallRun first(*model, context, powers, lottery, 14);
    Cutter cutter(moment);
    Progress progress;
    CHECK_THROWS_AS(first.finish(parallel_power_tempering(first.run, plan, progress, &cutter)),
                    Cut);
    SmallRun second(*model, context, powers, lottery, 14);
    second.finish(parallel_power_tempering(second.run, plan, progress));
    for (Rung k = 0; k < powers.size(); ++k)
      CHECK(same_record(progress.replicas[k], whole.progress.replicas[k]));
  }
}

}  // namespace tempera::gpu::parallel_power_tempering_test
