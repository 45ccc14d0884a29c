#include "gpu/llm/transformer/architectures/qwen3_5.hpp"

#include <algorithm>
#include <utility>

#include "gpu/core/lottery/exponential.hpp"

namespace tempera::gpu {

// ---- shapes

namespace {

AttentionLayers attention_layers(const Qwen3_5Config& config) {
  const auto layers = static_cast<std::size_t>(
      std::count(config.full_attention.begin(), config.full_attention.end(), true));
  AttentionShape shape = attention_shape(config);
  shape.gate_begin = shape.row_floats;  // after the values
  shape.row_floats += config.num_attention_heads * config.head_dim;
  return {layers, shape};
}

RecurrentShape recurrent_shape(const Qwen3_5Config& config) {
  RecurrentShape shape{config.linear_num_key_heads,
                       config.linear_num_value_heads,
                       config.linear_key_head_dim,
                       config.linear_value_head_dim,
                       config.linear_conv_kernel_dim,
                       0,
                       0,
                       0,
                       0};
  const std::size_t answers = shape.value_heads * shape.value_dim;
  shape.gate_begin = padded(2 * shape.key_heads * shape.key_dim + answers);
  shape.strength_begin = shape.gate_begin + padded(answers);
  shape.decay_begin = shape.strength_begin + padded(shape.value_heads);
  shape.row_floats = shape.decay_begin + padded(shape.value_heads);
  return shape;
}

StateShape state_shape(const Qwen3_5Config& config, const RecurrentShape& shape) {
  const auto layers = static_cast<std::size_t>(
      std::count(config.full_attention.begin(), config.full_attention.end(), false));
  return {layers,        2 * shape.key_heads * shape.key_dim + shape.value_heads * shape.value_dim,
          shape.taps,    shape.value_heads,
          shape.key_dim, shape.value_dim};
}

/// For what a base class is made of, before anything is read.
const Qwen3_5Config& computable(const Qwen3_5Config& config, const Kernels& kernels) {
  const std::string where = "the configuration of a qwen3_5_text model";
  require_gated_delta_net(config, where);
  kernels.require_recurrence(recurrent_shape(config), where);
  require_experts(config, kernels, where);
  return config;
}

}  // namespace

void Qwen3_5::require_kernels(const Qwen3_5Config& config, const Kernels& kernels,
                              const std::string& where) {
  kernels.require_attention(attention_layers(config).shape, where);
  kernels.require_recurrence(recurrent_shape(config), where);
  require_experts(config, kernels, where);
}

// ---- weights

namespace {

DeviceMemory<float> on_device(const std::vector<float>& values) {
  return DeviceMemory<float>(std::span<const float>(values));
}

}  // namespace

Qwen3_5::Qwen3_5(const Qwen3_5Config& config, TensorSource& tensors, const Kernels& kernels)
    : Decoder(model_type, config, attention_layers(computable(config, kernels)), tensors, kernels),
      recurrent_(recurrent_shape(config)),
      states_(state_shape(config, recurrent_)),
      stores_factors_(config.stores_factors),
      answers_(kernels.arithmetic()),
      of_experts_(kernels.arithmetic()) {
  for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
    layers_.push_back(read_layer("model.layers." + std::to_string(layer) + ".",
                                 config.full_attention[layer], tensors));
    if (const auto& experts = layers_.back().experts) idle_work_ += experts->idle_work();
    if (auto& delta_net = layers_.back().delta_net) {
      delta_net->tiles_answers = config.tiled_outputs.contains(layer);
    }
  }
  read_head(tensors, read_norm("model.norm.weight", config_.hidden_size, tensors));
}

/// The weight of an RMSNorm that Hugging Face stores as its difference from 1.
DeviceMemory<float> Qwen3_5::read_norm(const std::string& name, std::size_t size,
                                       TensorSource& tensors) const {
  if (stores_factors_) return tensors.vector(name, size);
  auto weight = tensors.elements(name, {size});
  for (float& w : weight) w += 1.0f;
  return on_device(weight);
}

Qwen3_5::Layer Qwen3_5::read_layer(const std::string& prefix, bool full_attention,
                                   TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t inner = config_.intermediate_size;
  const Arithmetic arithmetic = kernels_.arithmetic();
  Layer layer;
  layer.input_norm = read_norm(prefix + "input_layernorm.weight", hidden, tensors);
  if (full_attention) {
    layer.attention = read_attention(prefix + "self_attn.", tensors);
  } else {
    layer.delta_net = read_delta_net(prefix + "linear_attn.", tensors);
  }
  layer.post_attention_norm =
      read_norm(prefix + "post_attention_layernorm.weight", hidden, tensors);
  if (config_.experts) {
    layer.experts.emplace(prefix + "mlp.", hidden, *config_.experts, tensors, arithmetic);
    return layer;
  }
  layer.gate_up = tensors.stacked(
      {{prefix + "mlp.gate_proj.weight", inner}, {prefix + "mlp.up_proj.weight", inner}}, hidden,
      arithmetic);
  layer.down = tensors.matrix(prefix + "mlp.down_proj.weight", hidden, inner, arithmetic);
  return layer;
}

Qwen3_5::Attention Qwen3_5::read_attention(const std::string& prefix, TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t size = config_.head_dim;
  const Arithmetic arithmetic = kernels_.arithmetic();
  // Each head's query and its gate are stored as neighbours.
  std::vector<TensorSource::Part> queries;
  std::vector<TensorSource::Part> gates;
  for (std::size_t head = 0; head < config_.num_attention_heads; ++head) {
    queries.push_back({prefix + "q_proj.weight", size, 2 * head * size, 2 * query_size()});
    gates.push_back({prefix + "q_proj.weight", size, (2 * head + 1) * size, 2 * query_size()});
  }
  std::vector<TensorSource::Part> parts = queries;
  parts.push_back({prefix + "k_proj.weight", key_value_size()});
  parts.push_back({prefix + "v_proj.weight", key_value_size()});
  parts.insert(parts.end(), gates.begin(), gates.end());
  Attention layer;
  layer.query_key_value_gate = tensors.stacked(parts, hidden, arithmetic);
  layer.query_norm = read_norm(prefix + "q_norm.weight", size, tensors);
  layer.key_norm = read_norm(prefix + "k_norm.weight", size, tensors);
  layer.output = tensors.matrix(prefix + "o_proj.weight", hidden, query_size(), arithmetic);
  return layer;
}

Qwen3_5::DeltaNet Qwen3_5::read_delta_net(const std::string& prefix, TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t heads = recurrent_.value_heads;
  const std::size_t answers = heads * recurrent_.value_dim;
  const std::size_t channels = states_.channels;
  const Arithmetic arithmetic = kernels_.arithmetic();
  DeltaNet layer;
  layer.projection = tensors.stacked({{prefix + "in_proj_qkv.weight", channels},
                                      {prefix + "in_proj_z.weight", answers},
                                      {prefix + "in_proj_b.weight", heads},
                                      {prefix + "in_proj_a.weight", heads}},
                                     hidden, arithmetic);
  const auto stored = tensors.elements(prefix + "conv1d.weight", {channels, 1, recurrent_.taps});
  std::vector<float> convolution(stored.size());
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t tap = 0; tap < recurrent_.taps; ++tap) {
      convolution[tap * channels + channel] = stored[channel * recurrent_.taps + tap];
    }
  }
  layer.convolution = on_device(convolution);
  auto rates = tensors.elements(prefix + "A_log", {heads});
  for (float& rate : rates) {
    rate = stores_factors_ ? -rate : static_cast<float>(exponential(static_cast<double>(rate)));
  }
  layer.rates = on_device(rates);
  layer.biases = tensors.vector(prefix + "dt_bias", heads);
  layer.norm = tensors.vector(prefix + "norm.weight", recurrent_.value_dim);
  layer.output = tensors.matrix(prefix + "out_proj.weight", hidden, answers, arithmetic);
  return layer;
}

// ---- forward pass

void Qwen3_5::run_layers(const TokenRows& batch, const PageMemory& memory, const Launch& launch) {
  const std::size_t rows = batch.rows;
  const std::size_t hidden = config_.hidden_size;
  std::size_t attending = 0;
  std::size_t recurrent = 0;
  for (const Layer& layer : layers_) {
    const RowNorm norm{launch.states, layer.input_norm.data(), epsilon(), launch.normed};
    if (layer.attention) {
      attend(*layer.attention, norm, batch, pages_.keys(memory, attending),
             pages_.values(memory, attending), launch);
      ++attending;
    } else {
      recur(*layer.delta_net, norm, batch, recurrent++, launch);
    }
    if (layer.experts) {
      kernels_.normalize(launch.states, layer.post_attention_norm.data(), rows, hidden, epsilon(),
                         launch.normed);
      layer.experts->add(kernels_, launch.normed, rows, launch.states, of_experts_);
      continue;
    }
    kernels_.normalize_and_multiply_gated(
        {launch.states, layer.post_attention_norm.data(), epsilon(), launch.normed},
        layer.gate_up.view(), rows, config_.intermediate_size, launch.gated);
    kernels_.multiply_and_add(layer.down.view(), launch.gated, rows, hidden, launch.states);
  }
}

void Qwen3_5::attend(const Attention& layer, const RowNorm& norm, const TokenRows& batch,
                     const PagePart& keys, const PagePart& values, const Launch& launch) const {
  kernels_.normalize_and_multiply(norm, layer.query_key_value_gate.view(), nullptr, batch.rows,
                                  attention_.row_floats, launch.query_key_value);
  kernels_.rotate_and_attend(attention_, layer.query_norm.data(), layer.key_norm.data(), epsilon(),
                             launch.rotary, batch, keys, values, launch.query_key_value,
                             launch.attended);
  kernels_.multiply_and_add(layer.output.view(), launch.attended, batch.rows, config_.hidden_size,
                            launch.states);
}

void Qwen3_5::recur(const DeltaNet& layer, const RowNorm& norm, const TokenRows& batch,
                    std::size_t index, const Launch& launch) {
  const PageMemory& states = batch.recurrent.memory;
  projected_.ensure_size(batch.rows * recurrent_.row_floats);
  answers_.ensure_size(batch.rows * recurrent_.value_heads * recurrent_.value_dim);
  float* projected = projected_.data();
  RecurrentShape shape = recurrent_;
  shape.tiles_answers = layer.tiles_answers;
  kernels_.normalize_and_multiply(norm, layer.projection.view(), nullptr, batch.rows,
                                  recurrent_.row_floats, projected);
  kernels_.recur(shape,
                 {layer.convolution.data(), layer.rates.data(), layer.biases.data(),
                  layer.norm.data(), epsilon()},
                 batch, {states_.inputs(states, index), states_.memories(states, index)}, projected,
                 answers_.view());
  kernels_.multiply_and_add(layer.output.view(), answers_.view(), batch.rows, config_.hidden_size,
                            launch.states);
}

}  // namespace tempera::gpu
