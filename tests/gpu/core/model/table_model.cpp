#include "gpu/core/model/table_model.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace tempera::gpu {
namespace {

/// The first logit is the number of tokens, the second the last of them.
TableModel counting_table() {
  return TableModel(2, [](std::span<const TokenId> prefix) {
    return std::vector<float>{static_cast<float>(prefix.size()),
                              prefix.empty() ? -1.0F : static_cast<float>(prefix.back())};
  });
}

}  // namespace

TEST_CASE("a table gives each prefix of a batch its row") {
  TableModel model = counting_table();
  CHECK(model.vocabulary_size() == 2);
  const auto first = model.empty_cache();
  const auto second = model.empty_cache();
  const std::vector<TokenId> none, three{1, 0, 1};
  DeviceMemory<float> rows;
  model.next_logits(std::vector<Pass>{{first.get(), three}, {second.get(), none}}, rows);
  CHECK(rows.download(0, 4) == std::vector<float>{3.0F, 1.0F, 0.0F, -1.0F});
  CHECK(first->length() == 3);
  CHECK(second->length() == 0);
}

// What lab/ finds a stale cache by: a table that read the record instead would forgive it.
TEST_CASE("a table reads the cache, so that a stale one gives the wrong row") {
  TableModel model = counting_table();
  const auto cache = model.empty_cache();
  DeviceMemory<float> rows;
  const std::vector<TokenId> other{1, 0};
  model.next_logits(std::vector<Pass>{{cache.get(), other}}, rows);
  model.next_logits(std::vector<Pass>{{cache.get(), {}}}, rows);
  CHECK(rows.download(0, 2) == std::vector<float>{2.0F, 0.0F});
  const std::vector<TokenId> own{1};
  model.next_logits(std::vector<Pass>{{cache.get(), own}}, rows);
  CHECK(rows.download(0, 2) == std::vector<float>{3.0F, 1.0F});
}

TEST_CASE("a fork and its origin go their own ways") {
  TableModel model = counting_table();
  const auto cache = model.empty_cache();
  DeviceMemory<float> rows;
  const std::vector<TokenId> tokens{1, 1, 1}, branch{0};
  model.next_logits(std::vector<Pass>{{cache.get(), tokens}}, rows);
  const auto fork = cache->fork(1);
  CHECK(fork->length() == 1);
  model.next_logits(std::vector<Pass>{{fork.get(), branch}}, rows);
  const auto held = [](const Cache& one) {
    const auto its = dynamic_cast<const TokenCache&>(one).tokens();
    return std::vector<TokenId>(its.begin(), its.end());
  };
  CHECK(held(*fork) == std::vector<TokenId>{1, 0});
  CHECK(held(*cache) == tokens);
}

TEST_CASE("a row of the wrong length is a mistake of the program") {
  TableModel model(3, [](std::span<const TokenId>) { return std::vector<float>(2); });
  const auto cache = model.empty_cache();
  DeviceMemory<float> rows;
  CHECK_THROWS_AS(model.next_logits(std::vector<Pass>{{cache.get(), {}}}, rows), Bug);
}

}  // namespace tempera::gpu
