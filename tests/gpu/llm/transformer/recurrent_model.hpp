// A small model with recurrent layers and one that attends, and texts for it.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu::recurrent {

using Text = std::vector<TokenId>;
using Row = std::vector<std::uint32_t>;  // the bits of the logits, so that == is bitwise

/// Two recurrent layers around one that attends; no size of a recurrent layer is a multiple of the
/// lanes. Its weights remember hundreds of tokens. Tokens 0 and 1 are its terminal ones.
inline Qwen3_5Config small_config(std::size_t max_position = 600) {
  Qwen3_5Config config;
  config.vocab_size = 23;
  config.hidden_size = 16;
  config.intermediate_size = 24;
  config.num_hidden_layers = 3;
  config.num_attention_heads = 2;
  config.num_key_value_heads = 1;
  config.head_dim = 16;
  config.rotary_dim = 4;
  config.max_position_embeddings = max_position;
  config.eos_token_ids = {0, 1};
  config.full_attention = {false, true, false};
  config.linear_num_key_heads = 1;
  config.linear_num_value_heads = 2;
  config.linear_key_head_dim = 6;
  config.linear_value_head_dim = 19;
  config.linear_conv_kernel_dim = 4;
  return config;
}

inline std::unique_ptr<Transformer> model(
    const Kernels& kernels = default_kernels(Arithmetic::float32)) {
  FormulaTensors tensors;
  return std::make_unique<Transformer>(std::make_unique<Qwen3_5>(small_config(), tensors, kernels));
}

inline Text text_of(std::size_t length) {
  Text text;
  for (std::size_t i = 0; i < length; ++i) {
    text.push_back(static_cast<TokenId>((i * i + 5 * i + i / 9) % 23));
  }
  return text;
}

inline std::vector<Row> rows_of(const DeviceMemory<float>& memory, std::size_t rows,
                                std::size_t size) {
  std::vector<Row> result;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto values = memory.download(row * size, size);
    result.emplace_back(size);
    std::memcpy(result.back().data(), values.data(), size * sizeof(float));
  }
  return result;
}

inline std::vector<Row> next(Transformer& transformer, const std::vector<Pass>& passes) {
  DeviceMemory<float> memory;
  transformer.next_logits(passes, memory);
  return rows_of(memory, passes.size(), transformer.vocabulary_size());
}
inline Row next(Transformer& transformer, Cache& cache, std::span<const TokenId> tokens) {
  return next(transformer, {{&cache, tokens}})[0];
}

/// The logits after each of a text's prefixes, from a cache that shares nothing with anything.
inline std::vector<Row> every_row(Transformer& transformer, const Text& text) {
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(text, memory);
  return rows_of(memory, text.size(), transformer.vocabulary_size());
}

}  // namespace tempera::gpu::recurrent
