// What a table's cache keeps, however the prefix came into it.
#include <algorithm>

#include "gpu/core/model/table_model.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {
namespace {

/// A table whose row spells the prefix that it was asked for: token v + 1 at each place, then 0.
TableModel spelling_table() {
  return TableModel(6, [](std::span<const TokenId> prefix) {
    std::vector<float> row(6);
    for (std::size_t i = 0; i < prefix.size(); ++i) row[i] = static_cast<float>(prefix[i]) + 1.0F;
    return row;
  });
}

std::vector<float> row_after(TableModel& model, Cache& cache, const std::vector<TokenId>& tokens) {
  const Pass pass{&cache, tokens};
  DeviceMemory<float> rows;
  model.next_logits(std::span(&pass, 1), rows);
  return rows.download(0, 6);
}

}  // namespace

TEST_CASE("a table's row follows all that came into its cache, in pieces of any size") {
  TableModel model = spelling_table();
  const auto cache = model.empty_cache();
  CHECK(row_after(model, *cache, {4, 2}) == std::vector<float>{5, 3, 0, 0, 0, 0});
  CHECK(row_after(model, *cache, {3, 1}) == std::vector<float>{5, 3, 4, 2, 0, 0});
  CHECK(row_after(model, *cache, {0}) == std::vector<float>{5, 3, 4, 2, 1, 0});
  CHECK(row_after(model, *cache, {}) == std::vector<float>{5, 3, 4, 2, 1, 0});
  CHECK(cache->length() == 5);
}

TEST_CASE("a fork holds as many tokens as it was asked for, and neither sees the other's") {
  TableModel model = spelling_table();
  const auto cache = model.empty_cache();
  row_after(model, *cache, {4, 2, 3});
  for (std::size_t length = 0; length <= 3; ++length) {
    const auto fork = cache->fork(length);
    CHECK(fork->length() == length);
    std::vector<float> expected{5, 3, 4, 0, 0, 0};
    std::fill(expected.begin() + static_cast<std::ptrdiff_t>(length), expected.end(), 0.0F);
    CHECK(row_after(model, *fork, {}) == expected);
    expected[length] = 2.0F;
    CHECK(row_after(model, *fork, {1}) == expected);
  }
  CHECK(row_after(model, *cache, {}) == std::vector<float>{5, 3, 4, 0, 0, 0});
}

}  // namespace tempera::gpu
