#include "gpu/core/sampler/swap.hpp"

#include "gpu/core/sampler/chain.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu::swap_test {
namespace {

const Context context{{3, 4}, {0, 1}};

std::vector<Rung> edges_of(SmallRun& small, std::vector<Record>& replicas, Schedule schedule,
                           std::size_t number) {
  small.run.events.clear();
  sweep(replicas, small.run, schedule, number);
  std::vector<Rung> edges;
  for (const Event& event : small.run.events) {
    CHECK(event.kind == Event::Kind::swap);
    CHECK(event.turn == number);
    CHECK(event.proposed);
    edges.push_back(event.rung);
  }
  return edges;
}

}  // namespace

TEST_CASE("an accepted exchange moves complete records, caches included") {
  const auto model = random_qwen3(small_config(5), 8);
  TapeLottery tape({0});
  SmallRun small(*model, context, {1.0, 4.0}, tape);
  const std::vector<TokenId> at_0{2, 3, 4}, at_1{4, 1};
  std::vector<Record> replicas;
  replicas.push_back(small.scored(3, at_0));
  replicas.push_back(small.scored(3, at_1));
  const std::uint64_t computed = model->tokens_computed();
  attempt_swap(replicas, Turn(small.run, 0, 0, Purpose::swap));
  CHECK(tape.at_end());
  CHECK(small.engine.batches() == 0);
  CHECK(model->tokens_computed() == computed);
  CHECK(small.run.events.at(0).accepted);
  CHECK(small.run.events.at(0).changed);
  CHECK(same_record(replicas[0], small.scored(3, at_1)));
  CHECK(same_record(replicas[1], small.scored(3, at_0)));
  for (const Record& record : replicas) CHECK(owns_its_cache(*model, record));
  // The caches of another record would have been seen.
  replicas[0].exchange_cache(replicas[1]);
  for (const Record& record : replicas) CHECK_FALSE(owns_its_cache(*model, record));
}

TEST_CASE("an accepted exchange of equal records changes none, and that of unequal ones does") {
  TableModel model = scattered_table(5, 4);
  TapeLottery tape({0, 0, 0});
  SmallRun small(model, context, {1.0, 1.5, 2.0, 4.0}, tape);
  std::vector<Record> replicas;
  for (const auto& tokens : std::vector<std::vector<TokenId>>{{2, 3}, {2, 3}, {4, 3}, {2}})
    replicas.push_back(small.scored(2, tokens));
  sweep(replicas, small.run, Schedule::adj, 0);
  std::vector<bool> changed;
  for (const Event& event : small.run.events) {
    CHECK(event.accepted);
    changed.push_back(event.changed);
  }
  CHECK(changed == std::vector<bool>{false, true, true});
}

TEST_CASE("a swap's ratio is the paper's, and a rejected one changes nothing") {
  TableModel model = scattered_table(5, 4);
  PhiloxLottery lottery;
  SmallRun scorer(model, context, {1.0, 2.5}, lottery);
  std::vector<TokenId> likelier{2, 3, 4}, unlikelier{4, 1};
  if (scorer.scored(3, likelier).log_p0() < scorer.scored(3, unlikelier).log_p0())
    std::swap(likelier, unlikelier);
  TapeLottery tape({1});
  SmallRun small(model, context, {1.0, 2.5}, tape);
  std::vector<Record> replicas;
  // The likelier record at the sharper rung already: log R < 0.
  replicas.push_back(small.scored(3, unlikelier));
  replicas.push_back(small.scored(3, likelier));
  attempt_swap(replicas, Turn(small.run, 0, 0, Purpose::swap));
  const Event& event = small.run.events.at(0);
  CHECK(event.log_ratio == (2.5 - 1.0) * (replicas[0].log_p0() - replicas[1].log_p0()));
  CHECK(event.log_ratio < 0.0);
  CHECK_FALSE(event.accepted);
  CHECK_FALSE(event.changed);
  CHECK(same_record(replicas[0], small.scored(3, unlikelier)));
  CHECK(same_record(replicas[1], small.scored(3, likelier)));
}

TEST_CASE("a sharper rung never refuses a likelier record") {
  TableModel model = scattered_table(5, 4);
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0, 1.5, 2.0, 4.0}, lottery, 2);
  for (TokenId a = 2; a < 5; ++a)
    for (TokenId b = 2; b < 5; ++b) {
      std::vector<Record> replicas;
      for (const TokenId token : {a, b, a, b}) replicas.push_back(small.scored(1, {token}));
      sweep(replicas, small.run, Schedule::adj, 3 * a + b);
    }
  std::size_t certain = 0;
  for (const Event& event : small.run.events)
    if (event.log_ratio >= 0.0) {
      ++certain;
      CHECK(event.accepted);
    }
  CHECK(certain > 0);
  CHECK(certain < small.run.events.size());
}

TEST_CASE("an ordered sweep attempts every edge in turn, parity layers alternate") {
  TableModel model = scattered_table(5, 4);
  PhiloxLottery lottery;
  for (const std::size_t rungs : {1, 2, 5, 6}) {
    std::vector<double> powers;
    std::vector<Rung> every, first_layer, second_layer;
    for (std::size_t k = 0; k < rungs; ++k) {
      powers.push_back(1.0 + static_cast<double>(k));
      if (k + 1 == rungs) break;
      every.push_back(k);
      (k % 2 == 0 ? first_layer : second_layer).push_back(k);
    }
    SmallRun small(model, context, powers, lottery, 3);
    std::vector<Record> replicas;
    for (std::size_t k = 0; k < rungs; ++k)
      replicas.push_back(small.scored(2, {static_cast<TokenId>(2 + k % 3), 2}));
    for (const std::size_t number : {0, 1, 2, 3}) {
      CAPTURE(rungs, number);
      CHECK(edges_of(small, replicas, Schedule::adj, number) == every);
      // The paper numbers edges from 1: its odd edges, ours 0, 2, …, come first.
      CHECK(edges_of(small, replicas, Schedule::deo, number) ==
            (number % 2 == 0 ? first_layer : second_layer));
    }
  }
}

}  // namespace tempera::gpu::swap_test
