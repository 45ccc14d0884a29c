// Small models, for tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/core/lottery/philox.hpp"
#include "gpu/core/model/table_model.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"

namespace tempera::gpu {

/// Tokens 0 and 1 are its terminal ones.
inline DecoderConfig small_config(std::size_t vocabulary = 23) {
  DecoderConfig config;
  config.vocab_size = vocabulary;
  config.hidden_size = 16;
  config.intermediate_size = 24;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 8;
  config.max_position_embeddings = 64;
  config.eos_token_ids = {0, 1};
  return config;
}

/// A table whose row after each prefix is made of multiples of 1/8 in [-4, 4), another for each.
inline TableModel scattered_table(std::size_t vocabulary, std::uint64_t seed) {
  return TableModel(vocabulary, [vocabulary, seed](std::span<const TokenId> prefix) {
    Word state{{static_cast<std::uint32_t>(prefix.size()), 0, 0, 0}};
    for (const TokenId token : prefix) {
      state.limb[3] = token;
      state = philox(state, seed);
    }
    std::vector<float> row;
    for (std::size_t v = 0; v < vocabulary; ++v) {
      state.limb[3] = static_cast<std::uint32_t>(v);
      row.push_back(static_cast<float>(philox(state, seed).limb[0] % 64U) / 8.0F - 4.0F);
    }
    return row;
  });
}

}  // namespace tempera::gpu
