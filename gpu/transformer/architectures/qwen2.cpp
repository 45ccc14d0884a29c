#include "gpu/transformer/architectures/qwen2.hpp"

#include <nlohmann/json.hpp>

#include "gpu/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

// ---- configuration

DecoderConfig Qwen2::configuration(const JsonObject& json) {
  require_text(json, "model_type", model_type);
  require_full_attention(json);
  auto config = read_decoder_config(json, {"max_window_layers", "sliding_window"});
  config.rope_theta = read_rope_theta(json);
  return config;
}

DecoderConfig Qwen2::configuration(const GgufFile& file) { return read_decoder_config(file, {}); }

// ---- weights

Qwen2::Qwen2(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
    : Decoder(model_type, config, tensors, kernels) {
  for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
    layers_.push_back(read_layer("model.layers." + std::to_string(layer) + ".", tensors));
  }
  read_head(tensors);
}

Qwen2::Layer Qwen2::read_layer(const std::string& prefix, TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t inner = config_.intermediate_size;
  const Arithmetic arithmetic = kernels_.arithmetic();
  Layer layer;
  layer.input_norm = tensors.vector(prefix + "input_layernorm.weight", hidden);
  layer.query_key_value = tensors.stacked({{prefix + "self_attn.q_proj.weight", query_size()},
                                           {prefix + "self_attn.k_proj.weight", key_value_size()},
                                           {prefix + "self_attn.v_proj.weight", key_value_size()}},
                                          hidden, arithmetic);
  layer.query_key_value_bias =
      tensors.stacked_vector({{prefix + "self_attn.q_proj.bias", query_size()},
                              {prefix + "self_attn.k_proj.bias", key_value_size()},
                              {prefix + "self_attn.v_proj.bias", key_value_size()}});
  layer.attention_output =
      tensors.matrix(prefix + "self_attn.o_proj.weight", hidden, query_size(), arithmetic);
  layer.post_attention_norm = tensors.vector(prefix + "post_attention_layernorm.weight", hidden);
  layer.gate_up = tensors.stacked(
      {{prefix + "mlp.gate_proj.weight", inner}, {prefix + "mlp.up_proj.weight", inner}}, hidden,
      arithmetic);
  layer.down = tensors.matrix(prefix + "mlp.down_proj.weight", hidden, inner, arithmetic);
  return layer;
}

// ---- forward pass

void Qwen2::run_layers(const TokenRows& batch, const PageMemory& memory, const Launch& launch) {
  const auto& [rotary, states, normed, query_key_value, attended, gated] = launch;
  const std::size_t rows = batch.rows;
  const std::size_t hidden = config_.hidden_size;
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    const PagePart keys = pages_.keys(memory, index);
    const PagePart values = pages_.values(memory, index);

    kernels_.normalize(states, layer.input_norm.data(), rows, hidden, epsilon(), normed);
    kernels_.multiply_with_bias(layer.query_key_value.view(), normed,
                                layer.query_key_value_bias.data(), rows, attention_.row_floats,
                                query_key_value);
    kernels_.rotate_into_pages(attention_, nullptr, nullptr, epsilon(), rotary, batch, keys, values,
                               query_key_value);
    kernels_.attend(attention_, query_key_value, batch, keys, values, attended);
    kernels_.multiply_and_add(layer.attention_output.view(), attended, rows, hidden, states);

    kernels_.normalize(states, layer.post_attention_norm.data(), rows, hidden, epsilon(), normed);
    kernels_.multiply_gated(layer.gate_up.view(), normed, rows, config_.intermediate_size, gated);
    kernels_.multiply_and_add(layer.down.view(), gated, rows, hidden, states);
  }
}

}  // namespace tempera::gpu
