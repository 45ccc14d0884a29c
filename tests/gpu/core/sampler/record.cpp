#include "gpu/core/sampler/record.hpp"

#include <limits>
#include <stdexcept>

#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::record_test {
namespace {

const Context context{{3, 4}, {0, 1}};

ScoredToken token(TokenId id, double log_p, std::vector<double> log_z) {
  return {id, log_p, std::move(log_z)};
}

Record sample_record(LanguageModel& model) {
  Record record(context, model.empty_cache());
  record.raise_horizon(5);
  record.append(token(2, -0.5, {0.25, 1.0}));
  record.append(token(4, -1.0, {0.5, 2.0}));
  record.append(token(1, -2.0, {0.75, 4.0}));
  return record;
}

}  // namespace

TEST_CASE("a record ends at its terminal token, and its padding counts nothing") {
  TableModel model = scattered_table(5, 1);
  const Record record = sample_record(model);
  CHECK(record.length() == 3);
  CHECK(record.terminated());
  CHECK_FALSE(record.open());
  CHECK(record.terminal_position() == 3);
  CHECK(record.token_ids() == std::vector<TokenId>{2, 4, 1});
  CHECK(record.uncached_tokens() == std::vector<TokenId>{3, 4, 2, 4, 1});
  CHECK(record.log_p0() == -3.5);
  CHECK(record.sum_log_z(1, 3, 0) == 1.5);
  CHECK(record.sum_log_z(2, 5, 1) == 6.0);  // positions 4 and 5 are padding
  CHECK(record.sum_log_z(2, 2, 1) == 2.0);
  CHECK(record.sum_log_z(4, 5, 0) == 0.0);
}

TEST_CASE("a record without a terminal token has no terminal position") {
  TableModel model = scattered_table(5, 1);
  Record record(context, model.empty_cache());
  CHECK(record.terminal_position() == std::numeric_limits<std::size_t>::max());
  CHECK(record.log_p0() == 0.0);
  CHECK_FALSE(record.open());  // at horizon 0
  record.raise_horizon(1);
  CHECK(record.open());
  record.append(token(2, -1.0, {1.0, 1.0}));
  CHECK_FALSE(record.open());
  CHECK_FALSE(record.terminated());
  record.raise_horizon(2);
  CHECK(record.open());
}

TEST_CASE("a record that is not open takes no token") {
  TableModel model = scattered_table(5, 1);
  Record terminated = sample_record(model);
  CHECK_THROWS_AS(terminated.append(token(2, -1.0, {0.0, 0.0})), Bug);
  Record full(context, model.empty_cache());
  CHECK_THROWS_AS(full.append(token(2, -1.0, {0.0, 0.0})), Bug);
  CHECK(full.length() == 0);
}

TEST_CASE("the prefix before r keeps scores and horizon, and forks the cache it needs") {
  TableModel model = scattered_table(5, 1);
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0, 2.0}, lottery);
  const Record record = small.scored(6, {2, 3, 4, 0});
  // The last token has never been asked about, so it is not in the cache.
  REQUIRE(record.cache().length() == 5);
  CHECK(record.uncached_tokens() == std::vector<TokenId>{0});
  for (std::size_t r = 1; r <= 4; ++r) {
    CAPTURE(r);
    const Record prefix = record.prefix_before(r);
    CHECK(prefix.length() == r - 1);
    CHECK(prefix.horizon() == 6);
    CHECK(prefix.open());
    std::vector<TokenId> kept = record.token_ids();
    kept.resize(r - 1);
    CHECK(same_record(prefix, small.scored(6, kept)));
    CHECK(prefix.uncached_tokens().empty());
    CHECK(prefix.cache().length() == 2 + (r - 1));
    CHECK(owns_its_cache(model, prefix));
  }
  CHECK(record.cache().length() == 5);  // the fork left it alone
}

TEST_CASE("a copy is equal, and goes its own way") {
  TableModel model = scattered_table(5, 1);
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0, 2.0}, lottery);
  const Record record = small.scored(6, {2, 3, 4});
  Record copy = record.copy();
  CHECK(same_record(copy, record));
  small.finish(extend(copy, small.turn(0), 6));
  CHECK(copy.length() > 3);
  CHECK(record.length() == 3);
  CHECK(owns_its_cache(model, record));
  CHECK(owns_its_cache(model, copy));
}

TEST_CASE("a record's sums split at any position") {
  TableModel model = scattered_table(5, 2);
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0, 2.0}, lottery);
  law("the scores of a rebuilt record are those of the prefix and what follows it", [&] {
    std::vector<TokenId> tokens =
        *rc::gen::container<std::vector<TokenId>>(4, rc::gen::inRange<TokenId>(2, 5));
    const auto r = *rc::gen::inRange<std::size_t>(1, 6);
    const Record whole = small.scored(4, tokens);
    tokens.resize(r - 1);
    RC_ASSERT(same_record(whole.prefix_before(r), small.scored(4, tokens)));
  });
}

}  // namespace tempera::gpu::record_test
