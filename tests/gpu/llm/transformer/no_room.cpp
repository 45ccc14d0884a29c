// A pass that finds no room for its pages leaves every cache as it was: what fits is asked for
// again, and has the bits that it has where there is room.
#include "gpu/core/model/no_room.hpp"

#include "gpu/device/planted_fault.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu::no_room_test {
namespace {

std::vector<float> row_of(LanguageModel& model, Cache& cache, const std::vector<TokenId>& tokens) {
  DeviceMemory<float> rows;
  const Pass pass{&cache, tokens};
  model.next_logits(std::span(&pass, 1), rows);
  return rows.download(0, model.vocabulary_size());
}

}  // namespace

TEST_CASE("forks of a page keep its tokens when a pass finds no room behind them", "[cache]") {
  const std::vector<TokenId> prompt{2, 3, 4, 5, 6};
  const std::vector<TokenId> more{7, 8};
  const auto rich = random_qwen3(small_config(), 5);
  const auto whole = rich->empty_cache();
  row_of(*rich, *whole, prompt);
  const auto expected = row_of(*rich, *whole->fork(prompt.size()), more);

  const auto poor = random_qwen3(small_config(), 5);
  const auto cache = poor->empty_cache();
  row_of(*poor, *cache, prompt);
  // Pages beyond those that the pool has now are refused.
  std::vector<std::unique_ptr<Cache>> forks;
  std::vector<Pass> passes;
  for (std::size_t i = 0; i < 400; ++i) {
    forks.push_back(cache->fork(prompt.size()));
    passes.push_back({forks.back().get(), more});
  }
  const WithPlantedFault full({{}, poor->pages().pages() * poor->pages().page_bytes()});
  DeviceMemory<float> rows;
  CHECK_THROWS_AS(poor->next_logits(passes, rows), NoRoom);
  for (const auto& fork : forks) REQUIRE(fork->length() == prompt.size());
  // The first ones had their pages before one found none.
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(row_of(*poor, *forks[i], more) == expected);
  }
}

}  // namespace tempera::gpu::no_room_test
