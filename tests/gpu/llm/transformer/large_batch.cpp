// Batches with more rows than go through the layers or the head together.
#include <map>

#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu {

TEST_CASE("600 texts in one batch have the rows that each has alone") {
  const auto transformer = random_qwen3(small_config(), 9);
  const std::size_t vocabulary = transformer->vocabulary_size();
  std::vector<std::vector<TokenId>> texts;
  for (TokenId i = 0; i < 600; ++i) {
    texts.push_back({i % 23, i / 23 % 23});
    if (i % 5 == 0) texts.back().push_back(7);
  }
  std::vector<std::unique_ptr<Cache>> caches;
  std::vector<Pass> passes;
  for (const auto& text : texts) {
    caches.push_back(transformer->empty_cache());
    passes.push_back({caches.back().get(), text});
  }
  DeviceMemory<float> rows;
  transformer->next_logits(passes, rows);
  const auto together = rows.download(0, texts.size() * vocabulary);
  std::map<std::vector<float>, std::size_t> different;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto cache = transformer->empty_cache();
    const Pass pass{cache.get(), texts[i]};
    transformer->next_logits(std::span(&pass, 1), rows);
    const auto begin = together.begin() + static_cast<std::ptrdiff_t>(i * vocabulary);
    const std::vector<float> row(begin, begin + static_cast<std::ptrdiff_t>(vocabulary));
    CAPTURE(i);
    REQUIRE(rows.download(0, vocabulary) == row);
    ++different[row];
  }
  CHECK(different.size() > 500);
}

}  // namespace tempera::gpu
