// A Qwen3.5 model as a GGUF file, written once more in C++ so that a test can falsify it. That the
// converter writes such files, tests/fixtures/gguf/qwen3_5 says.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu::qwen35 {

using Floats = std::vector<float>;
using Tensors = std::map<std::string, FormulaTensors::Made>;

/// All tensors of a model, by Hugging Face's names.
inline Tensors tensors_of(const Qwen3_5Config& config) {
  FormulaTensors tensors;
  const Qwen3_5 model(config, tensors, default_kernels(Arithmetic::float32));
  return tensors.made();
}

/// [outer, value heads, inner] with the heads one of every key, then another of every key.
inline Floats tiled(const Floats& values, const Qwen3_5Config& config, std::size_t outer) {
  const std::size_t keys = config.linear_num_key_heads;
  const std::size_t sharing = config.linear_num_value_heads / keys;
  const std::size_t inner = values.size() / outer / keys / sharing;
  Floats result;
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t r = 0; r < sharing; ++r) {
      for (std::size_t k = 0; k < keys; ++k) {
        const auto head =
            values.begin() + static_cast<std::ptrdiff_t>(((o * keys + k) * sharing + r) * inner);
        result.insert(result.end(), head, head + static_cast<std::ptrdiff_t>(inner));
      }
    }
  }
  return result;
}

/// What a wrong converter, or a reader that undoes another one's work, would leave undone.
struct Undone {
  std::string heads_of;  // the tensor whose value heads stay as they are; "all" for every one
  float norm = 1.0f;     // what is added to the weight of a norm
  bool rate = false;     // A_log is stored as it is
};

/// A tensor as the file has it.
inline FormulaTensors::Made converted(const std::string& name, FormulaTensors::Made made,
                                      const Qwen3_5Config& config, const Undone& undone = {}) {
  const auto is = [&](const char* part) { return name.find(part) != std::string::npos; };
  const bool stays = undone.heads_of == "all" ||
                     (!undone.heads_of.empty() && name.find(undone.heads_of) != std::string::npos);
  if (is("conv1d")) made.shape = {made.shape[0], made.shape[2]};
  if (is("shared_expert_gate")) made.shape = {made.shape[1]};
  if (is("in_proj_qkv") || is("conv1d")) {
    const auto begin = static_cast<std::ptrdiff_t>(2 * config.linear_num_key_heads *
                                                   config.linear_key_head_dim * made.shape[1]);
    if (!stays) {
      const Floats heads = tiled({made.values.begin() + begin, made.values.end()}, config, 1);
      std::copy(heads.begin(), heads.end(), made.values.begin() + begin);
    }
  } else if (is("in_proj") || is("A_log") || is("dt_bias")) {
    if (!stays) made.values = tiled(made.values, config, 1);
  } else if (is("out_proj")) {
    if (!stays) made.values = tiled(made.values, config, made.shape[0]);
  } else if (name.ends_with("norm.weight") && !is("linear_attn.norm")) {
    for (float& w : made.values) w += undone.norm;
  }
  if (is("A_log") && !undone.rate) {
    // This is how the model computes it, so that the file's rates are its own.
    for (float& a : made.values) a = -static_cast<float>(exponential(static_cast<double>(a)));
  }
  return made;
}

/// The general.architecture of a model's files.
inline std::string architecture_of(const Qwen3_5Config& config) {
  return config.experts ? "qwen35moe" : "qwen35";
}

/// The metadata of such a file; `without` leaves keys out whose names hold it.
inline GgufBytes metadata_of(const Qwen3_5Config& config, const std::string& without = "none") {
  GgufBytes file;
  const std::string architecture = architecture_of(config);
  const auto is_there = [&](const std::string& key) {
    return key.find(without) == std::string::npos;
  };
  const auto number = [&](const std::string& key, std::size_t value) {
    if (!is_there(key)) return;
    file.add(architecture + "." + key, gguf_type::uint32,
             little_endian(static_cast<std::uint32_t>(value)));
  };
  const auto real = [&](const std::string& key, double value) {
    file.add(architecture + "." + key, gguf_type::float32,
             little_endian(static_cast<float>(value)));
  };
  file.add_text("general.architecture", architecture);
  file.add("tokenizer.ggml.eos_token_id", gguf_type::uint32, little_endian(std::uint32_t{2}));
  number("block_count", config.num_hidden_layers);
  number("context_length", config.max_position_embeddings);
  number("embedding_length", config.hidden_size);
  if (config.experts) {
    number("expert_count", config.experts->experts);
    number("expert_used_count", config.experts->chosen);
    number("expert_feed_forward_length", config.experts->inner);
    number("expert_shared_feed_forward_length", config.experts->shared_inner);
  } else {
    number("feed_forward_length", config.intermediate_size);
  }
  number("attention.head_count", config.num_attention_heads);
  number("attention.head_count_kv", config.num_key_value_heads);
  number("attention.key_length", config.head_dim);
  number("attention.value_length", config.head_dim);
  number("rope.dimension_count", config.rotary_dim);
  number("ssm.conv_kernel", config.linear_conv_kernel_dim);
  number("ssm.state_size", config.linear_key_head_dim);
  number("ssm.group_count", config.linear_num_key_heads);
  number("ssm.time_step_rank", config.linear_num_value_heads);
  number("ssm.inner_size", config.linear_num_value_heads * config.linear_value_head_dim);
  real("attention.layer_norm_rms_epsilon", config.rms_norm_eps);
  real("rope.freq_base", config.rope_theta);
  if (is_there("attention.recurrent_layers")) {
    std::vector<std::uint8_t> recurrent;
    for (const bool full : config.full_attention) recurrent.push_back(full ? 0 : 1);
    file.add_numbers(architecture + ".attention.recurrent_layers", gguf_type::boolean, recurrent);
  }
  return file;
}

/// Adds all tensors in float32.
inline void add_tensors(GgufBytes& file, const Qwen3_5Config& config, const Tensors& tensors,
                        const Undone& undone = {}) {
  for (const auto& [name, made] : with_stacked_experts(tensors)) {
    const auto stored = converted(name, made, config, undone);
    add_gguf_tensor(file, gguf_name(name, architecture_of(config)), stored.shape, 0,
                    bytes_of_values(stored.values));
  }
}

/// The logits after each of a text's prefixes.
inline std::vector<Floats> logits_of(Transformer& transformer, const std::vector<TokenId>& text) {
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(text, memory);
  std::vector<Floats> rows;
  for (std::size_t row = 0; row < text.size(); ++row) {
    rows.push_back(
        memory.download(row * transformer.vocabulary_size(), transformer.vocabulary_size()));
  }
  return rows;
}

}  // namespace tempera::gpu::qwen35
