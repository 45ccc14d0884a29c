#include "gpu/transformer/architectures/qwen3_5.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"
#include "gpu/lottery/exponential.hpp"
#include "gpu/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

// ---- configuration

namespace {

/// Base of the rotary positions and how much of a head they rotate. `mrope_section` and
/// `mrope_interleaved` tell apart the axes of images, which agree at every position of a text.
void read_partial_rotary(const JsonObject& json, Qwen3_5Config& config) {
  const JsonObject rope = json.has("rope_parameters") ? json.object("rope_parameters") : json;
  if (json.has("rope_parameters")) {
    rope.only({"rope_type", "type", "rope_theta", "partial_rotary_factor", "mrope_section",
               "mrope_interleaved"});
    for (const char* key : {"rope_type", "type"}) {
      if (rope.has(key)) require_text(rope, key, "default");
    }
  }
  if (json.has("rope_scaling")) {
    throw BadInput(json.where(), "\"rope_scaling\" is set",
                   "only unscaled rotary positions are supported; choose a model that has them");
  }
  config.rope_theta = rope.positive_number("rope_theta");
  const std::string key = "partial_rotary_factor";
  double factor = 0.25;  // the architecture's own
  if (json.has(key)) factor = json.positive_number(key);
  if (rope.has(key)) {
    const double other = rope.positive_number(key);
    if (json.has(key) && other != factor) {
      throw BadInput(json.where(), in_quotes(key) + " is given twice, and not the same",
                     "remove one of the two");
    }
    factor = other;
  }
  const double rotary = static_cast<double>(config.head_dim) * factor;
  config.rotary_dim = static_cast<std::size_t>(std::min(rotary, 1e6));
  if (config.rotary_dim < 2 || config.rotary_dim % 2 != 0 || config.rotary_dim > config.head_dim) {
    throw BadInput(json.where(),
                   in_quotes(key) + " rotates " + std::to_string(config.rotary_dim) + " of " +
                       std::to_string(config.head_dim) + " elements of a head",
                   "rotary positions need an even number from 2 to all of them");
  }
}

std::vector<bool> read_layer_types(const JsonObject& json, std::size_t layers) {
  std::vector<bool> full_attention;
  if (!json.has("layer_types")) {
    const std::string key = "full_attention_interval";
    const std::size_t interval = json.has(key) ? json.whole_number(key, 1, layers) : 4;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      full_attention.push_back((layer + 1) % interval == 0);
    }
    return full_attention;
  }
  for (const auto& type : json.texts("layer_types")) {
    if (type != "full_attention" && type != "linear_attention") {
      throw BadInput(json.where(), "\"layer_types\" names " + in_quotes(type),
                     "only \"full_attention\" and \"linear_attention\" are supported; choose "
                     "another model");
    }
    full_attention.push_back(type == "full_attention");
  }
  if (full_attention.size() != layers) {
    throw BadInput(json.where(),
                   "\"layer_types\" has " + std::to_string(full_attention.size()) +
                       " layers, \"num_hidden_layers\" says " + std::to_string(layers),
                   "use the config.json that belongs to these weights");
  }
  return full_attention;
}

/// What has no place in the sizes alone.
void require_gated_delta_net(const Qwen3_5Config& config, const std::string& where) {
  if (config.linear_num_key_heads == 0 ||
      config.linear_num_value_heads % config.linear_num_key_heads != 0) {
    throw BadInput(where, "\"linear_num_key_heads\" does not divide \"linear_num_value_heads\"",
                   "give a divisor");
  }
  if (config.head_dim % lanes != 0) {
    throw BadInput(where, "\"head_dim\" is " + std::to_string(config.head_dim),
                   "gated attention needs a multiple of " + std::to_string(lanes) +
                       "; choose a model that has one");
  }
  if (config.full_attention.size() != config.num_hidden_layers ||
      std::find(config.full_attention.begin(), config.full_attention.end(), false) ==
          config.full_attention.end()) {
    throw BadInput(where, "no layer is recurrent, or not every one has its type",
                   "choose a model with layers of \"linear_attention\"");
  }
}

AttentionLayers attention_layers(const Qwen3_5Config& config) {
  const auto layers = static_cast<std::size_t>(
      std::count(config.full_attention.begin(), config.full_attention.end(), true));
  AttentionShape shape = attention_shape(config);
  shape.gate_begin = shape.row_floats;  // behind the values
  shape.row_floats += config.num_attention_heads * config.head_dim;
  shape.rotary_dim = config.rotary_dim;
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
  return config;
}

}  // namespace

void Qwen3_5::require_kernels(const Qwen3_5Config& config, const Kernels& kernels,
                              const std::string& where) {
  kernels.require_attention(attention_layers(config).shape, where);
  kernels.require_recurrence(recurrent_shape(config), where);
}

Qwen3_5Config Qwen3_5::configuration(const JsonObject& json) {
  constexpr std::uint64_t most_heads = 1024;
  constexpr std::uint64_t largest_head = 1024;
  constexpr std::uint64_t most_taps = 8;
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  require_false(json, "use_sliding_window");
  if (!json.boolean_or("attn_output_gate", true)) {
    throw BadInput(json.where(), "\"attn_output_gate\" is false",
                   "only gated attention is supported; choose a model that has it");
  }
  Qwen3_5Config config;
  static_cast<DecoderConfig&>(config) = read_decoder_config(json);
  read_partial_rotary(json, config);
  config.full_attention = read_layer_types(json, config.num_hidden_layers);
  config.linear_num_key_heads = json.whole_number("linear_num_key_heads", 1, most_heads);
  config.linear_num_value_heads = json.whole_number("linear_num_value_heads", 1, most_heads);
  config.linear_key_head_dim = json.whole_number("linear_key_head_dim", 1, largest_head);
  config.linear_value_head_dim = json.whole_number("linear_value_head_dim", 1, largest_head);
  config.linear_conv_kernel_dim = json.whole_number("linear_conv_kernel_dim", 2, most_taps);
  require_gated_delta_net(config, json.where());
  return config;
}

Qwen3_5Config Qwen3_5::outer_configuration(const JsonObject& json) {
  require_text(json, "model_type", outer_model_type);
  require_unquantised(json);
  const JsonObject text = json.object("text_config");
  auto config = configuration(text);
  const std::string key = "tie_word_embeddings";
  if (json.has(key)) {
    if (text.has(key) && json.boolean(key) != config.tie_word_embeddings) {
      throw BadInput(json.where(), in_quotes(key) + " is given twice, and not the same",
                     "use the config.json that belongs to these weights");
    }
    config.tie_word_embeddings = json.boolean(key);
  }
  config.remark =
      "the text model alone: images are not seen, and the heads that predict several "
      "tokens are left out";
  return config;
}

// ---- weights

namespace {

DeviceMemory<float> on_device(const std::vector<float>& values) {
  return DeviceMemory<float>(std::span<const float>(values));
}

/// The weight of an RMSNorm that is stored as its difference from 1.
DeviceMemory<float> norm_weight(TensorSource& tensors, const std::string& name, std::size_t size) {
  auto weight = tensors.elements(name, {size});
  for (float& w : weight) w += 1.0f;
  return on_device(weight);
}

}  // namespace

Qwen3_5::Qwen3_5(const Qwen3_5Config& config, TensorSource& tensors, const Kernels& kernels)
    : Decoder(model_type, config, attention_layers(computable(config, kernels)), tensors, kernels),
      recurrent_(recurrent_shape(config)),
      states_(state_shape(config, recurrent_)),
      answers_(kernels.arithmetic()) {
  for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
    layers_.push_back(read_layer("model.layers." + std::to_string(layer) + ".",
                                 config.full_attention[layer], tensors));
  }
  read_head(tensors, norm_weight(tensors, "model.norm.weight", config_.hidden_size));
}

Qwen3_5::Layer Qwen3_5::read_layer(const std::string& prefix, bool full_attention,
                                   TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t inner = config_.intermediate_size;
  const Arithmetic arithmetic = kernels_.arithmetic();
  Layer layer;
  layer.input_norm = norm_weight(tensors, prefix + "input_layernorm.weight", hidden);
  if (full_attention) {
    layer.attention = read_attention(prefix + "self_attn.", tensors);
  } else {
    layer.delta_net = read_delta_net(prefix + "linear_attn.", tensors);
  }
  layer.post_attention_norm =
      norm_weight(tensors, prefix + "post_attention_layernorm.weight", hidden);
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
  layer.query_norm = norm_weight(tensors, prefix + "q_norm.weight", size);
  layer.key_norm = norm_weight(tensors, prefix + "k_norm.weight", size);
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
  for (float& rate : rates) rate = static_cast<float>(exponential(static_cast<double>(rate)));
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
    kernels_.normalize(launch.states, layer.input_norm.data(), rows, hidden, epsilon(),
                       launch.normed);
    if (layer.attention) {
      attend(*layer.attention, batch, pages_.keys(memory, attending),
             pages_.values(memory, attending), launch);
      ++attending;
    } else {
      recur(*layer.delta_net, batch, recurrent++, launch);
    }
    kernels_.normalize(launch.states, layer.post_attention_norm.data(), rows, hidden, epsilon(),
                       launch.normed);
    kernels_.multiply_gated(layer.gate_up.view(), launch.normed, rows, config_.intermediate_size,
                            launch.gated);
    kernels_.multiply_and_add(layer.down.view(), launch.gated, rows, hidden, launch.states);
  }
}

void Qwen3_5::attend(const Attention& layer, const TokenRows& batch, const PagePart& keys,
                     const PagePart& values, const Launch& launch) const {
  kernels_.multiply(layer.query_key_value_gate.view(), launch.normed, batch.rows,
                    attention_.row_floats, launch.query_key_value);
  kernels_.rotate_into_pages(attention_, layer.query_norm.data(), layer.key_norm.data(), epsilon(),
                             launch.rotary, batch, keys, values, launch.query_key_value);
  kernels_.attend(attention_, launch.query_key_value, batch, keys, values, launch.attended);
  kernels_.multiply_and_add(layer.output.view(), launch.attended, batch.rows, config_.hidden_size,
                            launch.states);
}

void Qwen3_5::recur(const DeltaNet& layer, const TokenRows& batch, std::size_t index,
                    const Launch& launch) {
  const PageMemory& states = batch.recurrent.memory;
  projected_.ensure_size(batch.rows * recurrent_.row_floats);
  answers_.ensure_size(batch.rows * recurrent_.value_heads * recurrent_.value_dim);
  float* projected = projected_.data();
  kernels_.multiply(layer.projection.view(), launch.normed, batch.rows, recurrent_.row_floats,
                    projected);
  kernels_.recur(recurrent_,
                 {layer.convolution.data(), layer.rates.data(), layer.biases.data(),
                  layer.norm.data(), epsilon()},
                 batch, {states_.inputs(states, index), states_.memories(states, index)}, projected,
                 answers_.view());
  kernels_.multiply_and_add(layer.output.view(), answers_.view(), batch.rows, config_.hidden_size,
                            launch.states);
}

}  // namespace tempera::gpu
