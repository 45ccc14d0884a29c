#include "gpu/llm/transformer/model_shapes.hpp"

#include <algorithm>
#include <array>

#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/weights/filled_tensors.hpp"

namespace tempera::gpu {

namespace {

DecoderConfig sizes(std::size_t vocabulary, std::size_t hidden, std::size_t inner,
                    std::size_t layers) {
  DecoderConfig config;
  config.vocab_size = vocabulary;
  config.hidden_size = hidden;
  config.intermediate_size = inner;
  config.num_hidden_layers = layers;
  config.max_position_embeddings = 40960;
  config.rope_theta = 1e6;
  return config;
}

DecoderConfig with_heads(DecoderConfig config, std::size_t heads, std::size_t key_value_heads,
                         std::size_t head_dim, bool tied) {
  config.num_attention_heads = heads;
  config.num_key_value_heads = key_value_heads;
  config.head_dim = head_dim;
  config.tie_word_embeddings = tied;
  return config;
}

const std::array<ModelShape, 4>& all_shapes() {
  static const std::array<ModelShape, 4> shapes{
      {{"qwen3-8b", "Qwen3-8B", with_heads(sizes(151936, 4096, 12288, 36), 32, 8, 128, false)},
       {"qwen3-4b", "Qwen3-4B", with_heads(sizes(151936, 2560, 9728, 36), 32, 8, 128, true)},
       {"135m", "SmolLM2-135M, as a Qwen3",
        with_heads(sizes(49152, 576, 1536, 30), 9, 3, 64, true)},
       {"tiny", "no model: seconds on any machine",
        with_heads(sizes(512, 64, 128, 2), 4, 2, 32, true)}}};
  return shapes;
}

}  // namespace

std::uint64_t ModelShape::layer_weights() const {
  const std::uint64_t query = config.num_attention_heads * config.head_dim;
  const std::uint64_t key_value = config.num_key_value_heads * config.head_dim;
  const std::uint64_t attention = config.hidden_size * (2 * query + 2 * key_value);
  const std::uint64_t gated = 3 * config.hidden_size * config.intermediate_size;
  return config.num_hidden_layers * (attention + gated);
}

std::uint64_t ModelShape::step_weights() const {
  return layer_weights() + std::uint64_t{config.vocab_size} * config.hidden_size;
}

std::uint64_t ModelShape::token_bytes(Arithmetic arithmetic) const {
  const PageShape pages{config.num_hidden_layers, config.num_key_value_heads, config.head_dim, 0,
                        arithmetic};
  return pages.layout().bytes() / page_tokens;
}

std::span<const ModelShape> model_shapes() { return all_shapes(); }

const ModelShape* find_model_shape(std::string_view name) {
  const auto shapes = model_shapes();
  const auto found = std::find_if(shapes.begin(), shapes.end(),
                                  [&](const ModelShape& shape) { return shape.name == name; });
  return found == shapes.end() ? nullptr : &*found;
}

void fill_cache(Cache& cache, std::size_t tokens) {
  auto& paged = dynamic_cast<PagedCache&>(cache);
  std::vector<PagedCache::PageCopy> copies;
  const std::vector<TokenId> text(tokens - paged.length(), 5);
  paged.reserve(tokens, copies);
  paged.reserve_states(tokens, copies);
  paged.hold(text);
}

std::unique_ptr<Transformer> filled_qwen3(const DecoderConfig& config, std::uint64_t seed,
                                          const Kernels& kernels) {
  FilledTensors tensors(seed);
  return std::make_unique<Transformer>(std::make_unique<Qwen3>(config, tensors, kernels));
}

std::unique_ptr<Transformer> filled_qwen3(const DecoderConfig& config, std::uint64_t seed,
                                          const std::shared_ptr<const Kernels>& kernels) {
  FilledTensors tensors(seed);
  return std::make_unique<Transformer>(std::make_unique<Qwen3>(config, tensors, *kernels), kernels);
}

}  // namespace tempera::gpu
