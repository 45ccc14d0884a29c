#include <cstring>

#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/catch.hpp"

using namespace tempera::gpu;

TEST_CASE("the transformer's logits have the host's bits") {
  // The model, the text and the hash of tests/gpu/llm/transformer/transformer.cpp.
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
  const auto transformer = random_qwen3(config, 7);
  INFO("kernels: " << transformer->kernels().name());
  std::vector<TokenId> text;
  for (TokenId i = 0; i < 40; ++i) text.push_back(i * i % 5);
  DeviceMemory<float> memory;
  transformer->logits_at_every_position(text, memory);
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const float logit : memory.download(0, text.size() * config.vocab_size)) {
    std::uint32_t word = 0;
    std::memcpy(&word, &logit, sizeof word);
    hash = (hash ^ word) * 0x100000001B3ULL;
  }
  CHECK(hash == 0x67CAF8E0E0116611ULL);
}
