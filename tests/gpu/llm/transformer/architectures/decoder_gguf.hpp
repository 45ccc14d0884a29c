// A model of attention layers as a GGUF file, written as llama.cpp's converter writes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/llm/transformer/architectures/decoder_config.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

/// All tensors of a model, by Hugging Face's names.
template <class Model>
std::map<std::string, FormulaTensors::Made> tensors_of(const DecoderConfig& config) {
  FormulaTensors tensors;
  const Model model(config, tensors, default_kernels());
  return tensors.made();
}

/// The same with all experts of a layer in one tensor for each of their maps, by the names that a
/// GGUF file translates, "PREFIX.mlp.experts.0.PART.weight", or bias.
inline std::map<std::string, FormulaTensors::Made> with_stacked_experts(
    const std::map<std::string, FormulaTensors::Made>& tensors) {
  std::map<std::string, FormulaTensors::Made> result;
  for (const auto& [name, made] : tensors) {
    const auto expert = expert_tensor(name);
    if (!expert) {
      result[name] = made;
      continue;
    }
    auto& stack = result[expert->prefix + "0." + expert->part + "." + expert->ending];
    if (stack.shape.empty()) {
      stack.shape = made.shape;
      stack.shape.insert(stack.shape.begin(), 0);
    }
    ++stack.shape[0];
    const std::size_t size = made.values.size();
    stack.values.resize(std::max(stack.values.size(), (expert->number + 1) * size));
    std::copy(made.values.begin(), made.values.end(),
              stack.values.begin() + static_cast<std::ptrdiff_t>(expert->number * size));
  }
  return result;
}

/// Adds a tokenizer as SentencePiece has it: of `tokens`, at least 259, the first three are
/// special, 256 are bytes and the others words "x0", "x1" and so on.
inline void add_byte_tokenizer(GgufBytes& file, std::size_t tokens) {
  std::vector<std::string> texts{"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> types{2, 3, 3};
  for (unsigned byte = 0; byte < 256; ++byte) {
    constexpr const char* digits = "0123456789ABCDEF";
    texts.push_back(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">");
    types.push_back(6);
  }
  while (texts.size() < tokens) {
    texts.push_back("x" + std::to_string(texts.size() - 259));
    types.push_back(1);
  }
  file.add_text("tokenizer.ggml.model", "llama");
  file.add_texts("tokenizer.ggml.tokens", texts);
  file.add_numbers("tokenizer.ggml.scores", gguf_type::float32, std::vector<float>(tokens));
  file.add_numbers("tokenizer.ggml.token_type", gguf_type::int32, types);
  file.add("tokenizer.ggml.bos_token_id", gguf_type::uint32, little_endian(std::uint32_t{1}));
}

/// What llama.cpp's converter writes of a model, with some of the metadata that it always adds.
template <class Model>
GgufBytes gguf_of(const DecoderConfig& config, const std::string& architecture,
                  std::optional<std::uint32_t> eos = 2) {
  GgufBytes file;
  const auto number = [&](const std::string& key, std::size_t value) {
    file.add(architecture + "." + key, gguf_type::uint32,
             little_endian(static_cast<std::uint32_t>(value)));
  };
  const auto real = [&](const std::string& key, double value) {
    file.add(architecture + "." + key, gguf_type::float32,
             little_endian(static_cast<float>(value)));
  };
  file.add_text("general.architecture", architecture);
  file.add_text("general.name", "test");
  if (eos) file.add("tokenizer.ggml.eos_token_id", gguf_type::uint32, little_endian(*eos));
  number("block_count", config.num_hidden_layers);
  number("context_length", 1024);
  number("embedding_length", config.hidden_size);
  number("feed_forward_length", config.intermediate_size);
  number("attention.head_count", config.num_attention_heads);
  number("attention.head_count_kv", config.num_key_value_heads);
  number("attention.key_length", config.head_dim);
  number("attention.value_length", config.head_dim);
  number("rope.dimension_count", config.head_dim);
  number("vocab_size", config.vocab_size);
  real("attention.layer_norm_rms_epsilon", config.rms_norm_eps);
  real("rope.freq_base", config.rope_theta);
  return file;
}

}  // namespace tempera::gpu
