#include "gpu/llm/transformer/architectures/dense_decoder.hpp"

namespace tempera::gpu {

DenseDecoder::DenseDecoder(const DenseTraits& traits, const DecoderConfig& config,
                           TensorSource& tensors, const Kernels& kernels)
    : Decoder(traits.model_type, config, tensors, kernels), traits_(traits) {
  for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
    layers_.push_back(read_layer("model.layers." + std::to_string(layer) + ".", tensors));
  }
  read_head(tensors);
}

// ---- weights

PackedMatrix DenseDecoder::read_query_key_value(const std::string& prefix,
                                                TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  if (!traits_.has_fused_projections) {
    return tensors.stacked({{prefix + "self_attn.q_proj.weight", query_size()},
                            {prefix + "self_attn.k_proj.weight", key_value_size()},
                            {prefix + "self_attn.v_proj.weight", key_value_size()}},
                           hidden, kernels_.arithmetic());
  }
  const std::string fused = prefix + "self_attn.qkv_proj.weight";
  const std::size_t key_end = query_size() + key_value_size();
  const std::size_t all = key_end + key_value_size();
  return tensors.stacked({{fused, query_size(), 0, all},
                          {fused, key_value_size(), query_size(), all},
                          {fused, key_value_size(), key_end, all}},
                         hidden, kernels_.arithmetic());
}

PackedMatrix DenseDecoder::read_gate_up(const std::string& prefix, TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t inner = config_.intermediate_size;
  if (!traits_.has_fused_projections) {
    return tensors.stacked(
        {{prefix + "mlp.gate_proj.weight", inner}, {prefix + "mlp.up_proj.weight", inner}}, hidden,
        kernels_.arithmetic());
  }
  const std::string fused = prefix + "mlp.gate_up_proj.weight";
  return tensors.stacked({{fused, inner, 0, 2 * inner}, {fused, inner, inner, 2 * inner}}, hidden,
                         kernels_.arithmetic());
}

DenseDecoder::Layer DenseDecoder::read_layer(const std::string& prefix,
                                             TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const Arithmetic arithmetic = kernels_.arithmetic();
  Layer layer;
  layer.input_norm = tensors.vector(prefix + "input_layernorm.weight", hidden);
  if (traits_.has_head_norms) {
    layer.query_norm = tensors.vector(prefix + "self_attn.q_norm.weight", config_.head_dim);
    layer.key_norm = tensors.vector(prefix + "self_attn.k_norm.weight", config_.head_dim);
  }
  layer.post_attention_norm = tensors.vector(prefix + "post_attention_layernorm.weight", hidden);
  layer.query_key_value = read_query_key_value(prefix, tensors);
  if (traits_.has_biases) {
    layer.query_key_value_bias =
        tensors.stacked_vector({{prefix + "self_attn.q_proj.bias", query_size()},
                                {prefix + "self_attn.k_proj.bias", key_value_size()},
                                {prefix + "self_attn.v_proj.bias", key_value_size()}});
  }
  layer.attention_output =
      tensors.matrix(prefix + "self_attn.o_proj.weight", hidden, query_size(), arithmetic);
  layer.gate_up = read_gate_up(prefix, tensors);
  layer.down = tensors.matrix(prefix + "mlp.down_proj.weight", hidden, config_.intermediate_size,
                              arithmetic);
  return layer;
}

// ---- forward pass

void DenseDecoder::run_layers(const TokenRows& batch, const PageMemory& memory,
                              const Launch& launch) {
  std::vector<DenseLayer> views;
  views.reserve(layers_.size());
  for (const Layer& layer : layers_) {
    const std::size_t index = views.size();
    views.push_back({layer.input_norm.data(), layer.query_key_value.view(),
                     traits_.has_biases ? layer.query_key_value_bias.data() : nullptr,
                     traits_.has_head_norms ? layer.query_norm.data() : nullptr,
                     traits_.has_head_norms ? layer.key_norm.data() : nullptr,
                     layer.attention_output.view(), layer.post_attention_norm.data(),
                     layer.gate_up.view(), layer.down.view(), pages_.keys(memory, index),
                     pages_.values(memory, index)});
  }
  kernels_.run_dense_layers(
      {attention_, config_.intermediate_size, epsilon(), launch.rotary, launch.states,
       launch.normed, launch.query_key_value, launch.attended, launch.gated},
      views, batch);
}

}  // namespace tempera::gpu
