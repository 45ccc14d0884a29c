#include "gpu/core/sampler/scored_sequence.hpp"

#include <stdexcept>

#include "tests/between.hpp"
#include "tests/catch.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {
namespace {

/// A token that is told from all others by each of its scores.
ScoredToken scored(TokenId id) {
  const double score = static_cast<double>(id);
  return {id, -score, {score + 0.25, score + 0.5}};
}

using Plain = std::vector<TokenId>;

bool is(const ScoredSequence& sequence, const Plain& plain) {
  if (sequence.size() != plain.size()) return false;
  for (std::size_t t = 1; t <= plain.size(); ++t) {
    const ScoredToken expected = scored(plain[t - 1]);
    const auto log_z = sequence.log_z(t);
    if (sequence.token(t) != expected.id || sequence.log_p(t) != expected.log_p ||
        std::vector<double>(log_z.begin(), log_z.end()) != expected.log_z)
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("forks of a sequence are what plain copies would be, whatever is appended to which") {
  law("any history of forks, copies and appends", [] {
    struct Pair {
      ScoredSequence sequence;
      Plain plain;
    };
    std::vector<Pair> pairs(1);
    TokenId next = 0;
    const auto steps = *rc::gen::inRange(1, 20);
    for (int step = 0; step < steps; ++step) {
      const auto chosen = between<std::size_t>(0, pairs.size() - 1);
      const auto length = *rc::gen::inRange<std::size_t>(0, pairs[chosen].plain.size() + 1);
      Plain prefix = pairs[chosen].plain;
      prefix.resize(length);
      Pair fork{pairs[chosen].sequence.first(length), prefix};
      if (*rc::gen::arbitrary<bool>())
        pairs[chosen] = std::move(fork);  // as an accepted proposal does
      else
        pairs.push_back(std::move(fork));
      for (Pair& pair : pairs) {
        const auto more = *rc::gen::inRange(0, 90);
        for (int i = 0; i < more; ++i, ++next) {
          pair.sequence.append(scored(next));
          pair.plain.push_back(next);
        }
      }
      for (const Pair& pair : pairs) RC_ASSERT(is(pair.sequence, pair.plain));
    }
  });
}

TEST_CASE("a fork shares the blocks that it does not change") {
  ScoredSequence whole;
  for (TokenId id = 0; id < 200; ++id) whole.append(scored(id));
  ScoredSequence fork = whole.first(150);
  fork.append(scored(7));
  ScoredSequence copy = whole;
  // Equal places in memory: blocks are shared, not equal copies.
  for (std::size_t t = 1; t <= 128; ++t) {
    REQUIRE(fork.log_z(t).data() == whole.log_z(t).data());
    REQUIRE(copy.log_z(t).data() == whole.log_z(t).data());
  }
  CHECK(fork.log_z(129).data() != whole.log_z(129).data());
  CHECK(copy.log_z(200).data() == whole.log_z(200).data());
}

TEST_CASE("a sequence is scored for one ladder") {
  ScoredSequence sequence;
  sequence.append({1, 0.0, {1.0, 2.0}});
  CHECK_THROWS_AS(sequence.append({1, 0.0, {1.0}}), Bug);
  ScoredSequence none = sequence.first(0);
  none.append({1, 0.0, {1.0}});
  CHECK(none.log_z(1).size() == 1);
}

}  // namespace tempera::gpu
