#include "gpu/model/table_model.hpp"

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
  const std::vector<TokenId> own{1}, other{0};
  model.next_logits(std::vector<Pass>{{cache.get(), own}}, rows);
  model.next_logits(std::vector<Pass>{{cache.get(), other}}, rows);
  CHECK(rows.download(0, 2) == std::vector<float>{1.0F, 1.0F});
}

TEST_CASE("a fork and its origin go their own ways") {
  TableModel model = counting_table();
  const auto cache = model.empty_cache();
  DeviceMemory<float> rows;
  const std::vector<TokenId> tokens{1, 1, 1}, branch{1, 0};
  model.next_logits(std::vector<Pass>{{cache.get(), tokens}}, rows);
  const auto fork = cache->fork(1);
  CHECK(fork->length() == 1);
  model.next_logits(std::vector<Pass>{{fork.get(), branch}}, rows);
  CHECK(std::vector<TokenId>(fork->tokens().begin(), fork->tokens().end()) == branch);
  CHECK(std::vector<TokenId>(cache->tokens().begin(), cache->tokens().end()) == tokens);
}

TEST_CASE("a row of the wrong length is a mistake of the program") {
  TableModel model(3, [](std::span<const TokenId>) { return std::vector<float>(2); });
  const auto cache = model.empty_cache();
  DeviceMemory<float> rows;
  CHECK_THROWS_AS(model.next_logits(std::vector<Pass>{{cache.get(), {}}}, rows), std::logic_error);
}

}  // namespace tempera::gpu
