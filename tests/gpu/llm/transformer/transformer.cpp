#include "gpu/llm/transformer/transformer.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gpu/device/thread_limit.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/between.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::transformer_test {

namespace {

using Text = std::vector<TokenId>;
using Row = std::vector<std::uint32_t>;  // the bits of the logits, so that == is bitwise

/// No size is a multiple of the lanes, so that every edge of a tile occurs.
DecoderConfig odd_config() {
  DecoderConfig config;
  config.vocab_size = 5;
  config.hidden_size = 21;
  config.intermediate_size = 35;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 6;
  config.num_key_value_heads = 3;
  config.head_dim = 18;
  config.max_position_embeddings = 80;
  config.tie_word_embeddings = true;
  return config;
}

/// Runs the test once for every arithmetic.
const Kernels& kernels_of_each_arithmetic() {
  return default_kernels(GENERATE(from_range(arithmetics)));
}

std::vector<Row> bits(const DeviceMemory<float>& memory, std::size_t rows, std::size_t size) {
  std::vector<Row> result;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto values = memory.download(row * size, size);
    Row copy(size);
    std::memcpy(copy.data(), values.data(), size * sizeof(float));
    result.push_back(std::move(copy));
  }
  return result;
}

std::vector<Row> next(Transformer& transformer, const std::vector<Pass>& passes) {
  DeviceMemory<float> memory;
  transformer.next_logits(passes, memory);
  return bits(memory, passes.size(), transformer.vocabulary_size());
}

/// The pass that brings a cache, which holds the beginning of a text, to its end.
Pass rest(Cache& cache, std::span<const TokenId> text) {
  return {&cache, text.subspan(cache.length())};
}

/// The logits after a text that shares nothing with anything.
Row fresh(Transformer& transformer, const Text& text) {
  const auto cache = transformer.empty_cache();
  return next(transformer, {{cache.get(), text}})[0];
}

rc::Gen<Text> texts(int longest) {
  return rc::gen::mapcat(rc::gen::inRange(1, longest + 1), [](int length) {
    return rc::gen::container<Text>(static_cast<std::size_t>(length),
                                    rc::gen::inRange<TokenId>(0, 5));
  });
}

}  // namespace

TEST_CASE("a row does not depend on its batch", "[transformer]") {
  const auto transformer = random_qwen3(odd_config(), 1, kernels_of_each_arithmetic());
  law("each row of a batch has the bits of its text alone", [&] {
    const auto batch = *rc::gen::container<std::vector<Text>>(texts(40));
    std::vector<std::unique_ptr<Cache>> caches;
    std::vector<Pass> passes;
    for (const auto& text : batch) {
      caches.push_back(transformer->empty_cache());
      passes.push_back({caches.back().get(), text});
    }
    const auto rows = next(*transformer, passes);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      RC_ASSERT(rows[i] == fresh(*transformer, batch[i]));
    }
  });
}

TEST_CASE("a row does not depend on how its text was split over passes", "[transformer]") {
  const auto transformer = random_qwen3(odd_config(), 2, kernels_of_each_arithmetic());
  law("all at once, token by token and anything between give the same bits", [&] {
    const auto text = *texts(40);
    const auto cache = transformer->empty_cache();
    DeviceMemory<float> memory;
    transformer->logits_at_every_position(text, memory);
    const auto all = bits(memory, text.size(), transformer->vocabulary_size());
    std::size_t length = 0;
    while (length < text.size()) {
      length += *rc::gen::inRange<std::size_t>(1, text.size() - length + 1);
      const auto row = next(*transformer, {rest(*cache, std::span(text).first(length))})[0];
      RC_ASSERT(row == all[length - 1]);
    }
  });
}

TEST_CASE("a prompt longer than one launch has the bits of its pieces", "[transformer]") {
  auto config = odd_config();
  config.max_position_embeddings = 700;  // more than one launch, and than two splits of attention
  const auto transformer = random_qwen3(config, 3, kernels_of_each_arithmetic());
  Text text;
  for (TokenId i = 0; i < 700; ++i) text.push_back(i * i % 5);
  const auto cache = transformer->empty_cache();
  next(*transformer, {{cache.get(), std::span(text).first(333)}});
  CHECK(next(*transformer, {rest(*cache, text)})[0] == fresh(*transformer, text));
}

TEST_CASE("any history of forks and batches leaves every cache to its own text", "[transformer]") {
  const auto transformer = random_qwen3(odd_config(), 4, kernels_of_each_arithmetic());
  std::map<Text, Row> expected;
  const auto expect = [&](const Text& text) -> const Row& {
    const auto found = expected.find(text);
    if (found != expected.end()) return found->second;
    return expected.emplace(text, fresh(*transformer, text)).first->second;
  };
  struct Branch {
    Text text;
    std::unique_ptr<Cache> cache;
  };
  law("rows are those of fresh caches, and only new tokens are computed", [&] {
    std::vector<Branch> branches;
    branches.push_back({*texts(40), transformer->empty_cache()});
    const auto steps = *rc::gen::inRange(1, 12);
    for (int step = 0; step < steps; ++step) {
      const auto& parent = branches[between<std::size_t>(0, branches.size() - 1)];
      const auto length = *rc::gen::inRange<std::size_t>(0, parent.cache->length() + 1);
      Branch child{Text(parent.text.begin(), parent.text.begin() + static_cast<int>(length)),
                   parent.cache->fork(length)};
      RC_ASSERT(child.cache->length() == length);
      branches.push_back(std::move(child));
      std::vector<Pass> passes;
      std::vector<const Branch*> asked;
      std::uint64_t new_tokens = 0;
      for (auto& branch : branches) {
        const auto more = *texts(4);
        if (branch.text.size() + more.size() < 60) {
          branch.text.insert(branch.text.end(), more.begin(), more.end());
        }
        if (!*rc::gen::arbitrary<bool>()) continue;
        passes.push_back(rest(*branch.cache, branch.text));
        asked.push_back(&branch);
        new_tokens += branch.text.size() - branch.cache->length();
      }
      const auto before = transformer->tokens_computed();
      const auto rows = next(*transformer, passes);
      RC_ASSERT(transformer->tokens_computed() - before == new_tokens);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        RC_ASSERT(asked[i]->cache->length() == asked[i]->text.size());
        RC_ASSERT(rows[i] == expect(asked[i]->text));
      }
      if (branches.size() > 4) {
        const auto gone = *rc::gen::inRange<int>(0, static_cast<int>(branches.size()));
        branches.erase(branches.begin() + gone);
      }
    }
    branches.clear();
    RC_ASSERT(transformer->pages().free_pages() == transformer->pages().pages());
  });
}

TEST_CASE("the bitwise comparisons would see a token, a page or a thread out of place",
          "[transformer]") {
  const auto transformer = random_qwen3(odd_config(), 5, kernels_of_each_arithmetic());
  const Text text = {0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2, 3, 4, 4, 4, 2, 1, 0, 2, 3};
  const auto row = fresh(*transformer, text);
  SECTION("each single token changes the bits") {
    for (std::size_t i = 0; i < text.size(); ++i) {
      auto other = text;
      other[i] = (other[i] + 1) % 5;
      CHECK(fresh(*transformer, other) != row);
    }
  }
  SECTION("a page that was shared and not copied changes the bits") {
    PagedCache cache(dynamic_cast<PagedCache&>(*transformer->empty_cache()).pool());
    next(*transformer, {{&cache, std::span(text).first(18)}});
    const auto fork = cache.fork(18);
    std::vector<PagedCache::PageCopy> never_made;
    dynamic_cast<PagedCache&>(*fork).reserve(text.size(), never_made);
    REQUIRE(never_made.size() == 1);
    CHECK(next(*transformer, {rest(*fork, text)})[0] != row);
  }
}

TEST_CASE("no retained token is computed twice", "[transformer]") {
  const auto transformer = random_qwen3(odd_config(), 6, kernels_of_each_arithmetic());
  const Text text = {0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2, 3, 4, 4, 4, 2, 1, 0, 2, 3};
  const auto cache = transformer->empty_cache();
  for (std::size_t length = 1; length <= text.size(); ++length) {
    next(*transformer, {rest(*cache, std::span(text).first(length))});
  }
  CHECK(transformer->tokens_computed() == text.size());
  const auto fork = cache->fork(7);
  const auto row = next(*transformer, {rest(*fork, std::span(text).first(7))})[0];
  CHECK(transformer->tokens_computed() == text.size());
  CHECK(row == fresh(*transformer, Text(text.begin(), text.begin() + 7)));
  const auto before = transformer->tokens_computed();
  next(*transformer, {rest(*fork, std::span(text).first(10))});
  CHECK(transformer->tokens_computed() == before + 3);
}

TEST_CASE("random weights and the arithmetic have the same bits everywhere", "[transformer]") {
  // FNV-1a over the bits of all logits. Whatever changes it changes what every seeded run draws.
  const auto [arithmetic, expected] = GENERATE(table<Arithmetic, std::uint64_t>(
      {{Arithmetic::float32, 0x67CAF8E0E0116611ULL},
       {Arithmetic::tensor_core, 0x34B9F809B8332FCEULL},
       {Arithmetic::tensor_core_ampere, 0x5840FD11D02E8374ULL},
       {Arithmetic::tensor_core_8_bit_pages, 0x7A338D67C26B4F0FULL},
       {Arithmetic::tensor_core_ampere_8_bit_pages, 0x117E5889BA9A9E35ULL},
       {Arithmetic::bfloat16_pairs, 0x101B647419BC9F9DULL},
       {Arithmetic::integer, 0xB95A46ABA02592C8ULL}}));
  for (const Kernels* form : forms_of_the_kernels(arithmetic)) {
    const Kernels& kernels = *form;
    CAPTURE(kernels.name(), name_of(arithmetic));
    const auto transformer = random_qwen3(odd_config(), 7, kernels);
    REQUIRE(&transformer->kernels() == &kernels);
    Text text;
    for (TokenId i = 0; i < 40; ++i) text.push_back(i * i % 5);
    DeviceMemory<float> memory;
    transformer->logits_at_every_position(text, memory);
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const auto& row : bits(memory, text.size(), 5)) {
      for (const auto word : row) hash = (hash ^ word) * 0x100000001B3ULL;
    }
    CHECK(hash == expected);
  }
}

TEST_CASE("a row does not depend on the number of threads", "[transformer]") {
  const auto transformer = random_qwen3(odd_config(), 8, kernels_of_each_arithmetic());
  Text text;
  for (TokenId i = 0; i < 60; ++i) text.push_back(i * i % 5);
  const auto row = fresh(*transformer, text);
  for (const std::size_t threads : {1, 2, 3, 8}) {
    const ThreadLimit limit(threads);
    CHECK(fresh(*transformer, text) == row);
  }
}

TEST_CASE("a text that the model cannot take is refused before anything is computed",
          "[transformer]") {
  const auto transformer = random_qwen3(odd_config(), 9, kernels_of_each_arithmetic());
  const auto cache = transformer->empty_cache();
  const auto ask = [&](const Text& text) { next(*transformer, {{cache.get(), text}}); };
  require_bad_input([&] { ask({}); }, {"at least one token"});
  require_bad_input([&] { ask({0, 5}); }, {"token 5", "position 1", "vocabulary of 5"});
  require_bad_input([&] { ask(Text(81)); }, {"81 tokens", "80", "shorten"});
  DeviceMemory<float> memory;
  require_bad_input([&] { transformer->logits_at_every_position({}, memory); }, {"one token"});
  CHECK(transformer->tokens_computed() == 0);
  ask(Text(80));

  const auto other = random_qwen3(odd_config(), 9, transformer->kernels());
  const Text one = {1};
  require_bad_input([&] { ask(one); }, {"81 tokens", "80", "shorten"});
  CHECK_THROWS_AS(next(*other, {{cache.get(), {}}}), Bug);
  CHECK_THROWS_AS(next(*transformer, {{nullptr, one}}), Bug);
  CHECK_THROWS_AS(next(*transformer, {{cache.get(), {}}, {cache.get(), {}}}), Bug);
  CHECK_THROWS_AS(cache->fork(81), Bug);
  CHECK(next(*transformer, {}).empty());
}

}  // namespace tempera::gpu::transformer_test
