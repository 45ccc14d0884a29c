#include "lab/enumerate/small_transformer.hpp"

namespace tempera::lab {

std::unique_ptr<gpu::Transformer> small_transformer(std::size_t vocabulary, std::uint64_t seed,
                                                    gpu::Arithmetic arithmetic) {
  gpu::DecoderConfig config;
  config.vocab_size = vocabulary;
  config.hidden_size = 16;
  config.intermediate_size = 32;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 8;
  config.max_position_embeddings = 64;
  return gpu::random_qwen3(config, seed, gpu::make_default_kernels(arithmetic));
}

}  // namespace tempera::lab
