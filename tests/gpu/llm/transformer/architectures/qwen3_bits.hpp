// The bits of a small Qwen3's logits, by the kernels and by what is written out naively: what the
// tests of the arithmetics compare.
#pragma once

#include <cstring>

#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_tensor_core.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

/// The shape of a model and the length of a text.
struct Qwen3Case {
  std::size_t hidden;
  std::size_t inner;
  std::size_t heads;
  std::size_t groups;
  std::size_t head_dim;
  std::size_t layers;
  std::size_t tokens;

  DecoderConfig config() const {
    DecoderConfig result;
    result.vocab_size = 23;
    result.hidden_size = hidden;
    result.intermediate_size = inner;
    result.num_hidden_layers = layers;
    result.num_attention_heads = heads;
    result.num_key_value_heads = groups;
    result.head_dim = head_dim;
    result.max_position_embeddings = 600;
    result.tie_word_embeddings = layers > 1;
    return result;
  }
  std::vector<TokenId> text() const {
    std::vector<TokenId> result;
    for (std::size_t i = 0; i < tokens; ++i) {
      result.push_back(static_cast<TokenId>((i * i + 3 * i) % 23));
    }
    return result;
  }
};

using RowBits = std::vector<std::vector<std::uint32_t>>;  // of the logits

inline RowBits row_bits(const std::vector<std::vector<float>>& rows) {
  RowBits result;
  for (const auto& row : rows) {
    result.emplace_back(row.size());
    std::memcpy(result.back().data(), row.data(), row.size() * sizeof(float));
  }
  return result;
}

inline RowBits computed_by(const Qwen3Case& shape, const Kernels& kernels) {
  KeptTensors tensors(5);
  Transformer transformer(std::make_unique<Qwen3>(shape.config(), tensors, kernels));
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(shape.text(), memory);
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < shape.tokens; ++i) rows.push_back(memory.download(i * 23, 23));
  return row_bits(rows);
}

/// The same by a class that writes an arithmetic out, with a planted defect or none.
template <class Plain, class Defect>
RowBits written_out(const Qwen3Case& shape, Arithmetic arithmetic, Defect defect) {
  KeptTensors tensors(5);
  const Qwen3 names_and_shapes(shape.config(), tensors, default_kernels(arithmetic));
  return row_bits(Plain(shape.config(), tensors, defect).logits(shape.text()));
}

}  // namespace tempera::gpu
