// Layers that are not those of Kernels::run_dense_layers: the same bits in every form of the
// kernels, whatever the batch and the split.
#include <cstring>

#include "gpu/llm/transformer/architectures/gemma3.hpp"
#include "gpu/llm/transformer/architectures/gpt_oss.hpp"
#include "gpu/llm/transformer/architectures/granite.hpp"
#include "gpu/llm/transformer/architectures/olmo2.hpp"
#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::variant_layers_test {

namespace {

using Text = std::vector<TokenId>;
using Row = std::vector<std::uint32_t>;
using Rotation = LayerAttention::Rotation;

/// No size is a multiple of the lanes; windows of one token, within a page and past a split.
DecoderConfig odd_config() {
  DecoderConfig config;
  config.vocab_size = 5;
  config.hidden_size = 21;
  config.intermediate_size = 35;
  config.num_hidden_layers = 5;
  config.num_attention_heads = 6;
  config.num_key_value_heads = 3;
  config.head_dim = 18;
  config.max_position_embeddings = 700;
  config.tie_word_embeddings = true;
  config.layer_attention = {{1, Rotation::local},
                            {7, Rotation::usual},
                            {0, Rotation::none},
                            {300, Rotation::local},
                            {61, Rotation::usual}};
  config.attention_scale = 0.3;
  config.embedding_scale = 1.5;
  config.residual_scale = 0.75;
  return config;
}

/// Three of seven experts in all layers but one.
DecoderConfig config_of_experts() {
  auto config = odd_config();
  config.layer_attention.clear();
  config.attention_scale = 0.0;
  config.embedding_scale = 1.0;
  config.residual_scale = 1.0;
  config.experts = {7, 3, 19, true, 0, {true, false, true, true, true}};
  return config;
}

/// Two layers of gpt-oss, one of them with a window.
DecoderConfig config_of_gpt_oss() {
  auto config = odd_config();
  config.num_hidden_layers = 2;
  config.layer_attention = {{37, Rotation::usual}, {0, Rotation::usual}};
  config.attention_scale = 0.0;
  config.embedding_scale = 1.0;
  config.residual_scale = 1.0;
  config.experts = {3, 2, 19, true, 0, {true, true}};
  config.experts->clamped = {1.5f, 0.75f};
  return config;
}

Text text_of(std::size_t length, TokenId seed) {
  Text text;
  for (std::size_t i = 0; i < length; ++i)
    text.push_back(static_cast<TokenId>((i * i + seed * i + seed + i / 7) % 5));
  return text;
}

template <class Model>
Transformer model_of(const DecoderConfig& config, const Kernels& kernels) {
  FormulaTensors tensors;
  return Transformer(std::make_unique<Model>(config, tensors, kernels));
}

Row bits_of(const std::vector<float>& values) {
  Row row(values.size());
  std::memcpy(row.data(), values.data(), values.size() * sizeof(float));
  return row;
}

std::vector<Row> rows_of(const DeviceMemory<float>& memory, std::size_t count, std::size_t size) {
  std::vector<Row> rows;
  for (std::size_t row = 0; row < count; ++row)
    rows.push_back(bits_of(memory.download(row * size, size)));
  return rows;
}

std::vector<Row> next(Transformer& transformer, const std::vector<Pass>& passes) {
  DeviceMemory<float> memory;
  transformer.next_logits(passes, memory);
  return rows_of(memory, passes.size(), transformer.vocabulary_size());
}

std::vector<Row> every_position(Transformer& transformer, const Text& text) {
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(text, memory);
  return rows_of(memory, text.size(), transformer.vocabulary_size());
}

/// A text's rows, at once and in pieces, beside another text and a fork of itself.
template <class Model>
void require_same_bits(const DecoderConfig& config) {
  const auto arithmetic = GENERATE(from_range(arithmetics));
  INFO(name_of(arithmetic));
  const Text text = text_of(601, 3);
  const Text other = text_of(333, 1);
  std::vector<Row> expected;
  for (const Kernels* form : forms_of_the_kernels(arithmetic)) {
    // The plain form calls the C library for each fused multiply-add.
    if (std::string(form->name()).find("plain") != std::string::npos) continue;
    INFO(form->name());
    auto transformer = model_of<Model>(config, *form);
    const auto all = every_position(transformer, text);
    if (expected.empty()) expected = all;
    CHECK((all == expected));
    const auto cache = transformer.empty_cache();
    const auto beside = transformer.empty_cache();
    const auto alone = every_position(transformer, other);
    for (const std::size_t end : {1UL, 2UL, 15UL, 16UL, 17UL, 255UL, 256UL, 257UL, 333UL}) {
      const auto rows = next(
          transformer, {{cache.get(), std::span(text).first(end).subspan(cache->length())},
                        {beside.get(), std::span(other).first(end).subspan(beside->length())}});
      CHECK((rows[0] == expected[end - 1]));
      CHECK((rows[1] == alone[end - 1]));
    }
    const auto fork = cache->fork(300);
    const auto rows = next(transformer, {{cache.get(), std::span(text).subspan(333)},
                                         {fork.get(), std::span(text).first(420).subspan(300)}});
    CHECK((rows[0] == expected[600]));
    CHECK((rows[1] == expected[419]));
  }
}

}  // namespace

TEST_CASE("layers with windows have the same bits in any form, batch and split",
          "[transformer][variant]") {
  SECTION("norms around the blocks, GELU") { require_same_bits<Gemma3>(odd_config()); }
  SECTION("norms after the blocks and of all queries") { require_same_bits<Olmo2>(odd_config()); }
  SECTION("norms before the blocks") { require_same_bits<Granite>(odd_config()); }
}

TEST_CASE("experts have the same bits in any form, batch and split", "[transformer][experts]") {
  require_same_bits<Qwen3Moe>(config_of_experts());
}

TEST_CASE("attention with sinks has the same bits in any form, and in few rows and many",
          "[transformer][experts]") {
  const Text text = text_of(70, 3);
  for (const auto arithmetic : arithmetics) {
    INFO(name_of(arithmetic));
    std::vector<Row> expected;
    for (const Kernels* form : forms_of_the_kernels(arithmetic)) {
      INFO(form->name());
      auto transformer = model_of<GptOss>(config_of_gpt_oss(), *form);
      const auto all = every_position(transformer, text);
      if (expected.empty()) expected = all;
      CHECK((all == expected));
      const auto cache = transformer.empty_cache();
      for (const std::size_t end : {1UL, 2UL, 17UL, 38UL, 70UL}) {
        const auto rows =
            next(transformer, {{cache.get(), std::span(text).first(end).subspan(cache->length())}});
        CHECK((rows[0] == expected[end - 1]));
      }
    }
  }
}

}  // namespace tempera::gpu::variant_layers_test
