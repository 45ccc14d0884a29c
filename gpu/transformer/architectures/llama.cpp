#include "gpu/transformer/architectures/llama.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "gpu/transformer/architectures/model_config.hpp"
#include "gpu/transformer/weights/packed_matrix.hpp"

namespace tempera::gpu {

// ---- configuration

namespace {

/// Llama 3.1's factors of the rotary frequencies. With the wavelength w = 2π / frequency and the
/// length L of the texts before the scaling: 1 where w < L / high, `factor` where w > L / low, and
/// between them 1 / ((1 − s) / factor + s), s = (L / w − low) / (high − low).
std::vector<double> llama3_factors(const JsonObject& scaling, const DecoderConfig& config) {
  const double factor = scaling.positive_number("factor");
  const double low = scaling.positive_number("low_freq_factor");
  const double high = scaling.positive_number("high_freq_factor");
  const double length = scaling.positive_number("original_max_position_embeddings");
  if (!(high > low)) {
    throw BadInput(scaling.where(), "\"high_freq_factor\" is not above \"low_freq_factor\"",
                   "use the config.json that belongs to these weights");
  }
  std::vector<double> factors;
  const std::size_t half = config.head_dim / 2;
  for (std::size_t d = 0; d < half; ++d) {
    const double wavelength =
        2.0 * M_PI *
        std::pow(config.rope_theta, static_cast<double>(d) / static_cast<double>(half));
    const double s = (length / wavelength - low) / (high - low);
    factors.push_back(wavelength < length / high  ? 1.0
                      : wavelength > length / low ? factor
                                                  : 1.0 / ((1.0 - s) / factor + s));
  }
  return factors;
}

}  // namespace

DecoderConfig Llama::configuration(const JsonObject& json) {
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  require_full_attention(json);
  auto config = read_decoder_config(json, {"attention_bias"});
  const auto rope = read_rope(json, {"llama3"});
  config.rope_theta = rope.theta;
  if (rope.type == "llama3") {
    rope.scaling->only({"rope_type", "type", "rope_theta", "factor", "low_freq_factor",
                        "high_freq_factor", "original_max_position_embeddings"});
    config.rope_factors = llama3_factors(*rope.scaling, config);
  }
  return config;
}

DecoderConfig Llama::configuration(const GgufFile& file) {
  auto config = read_decoder_config(file, {});
  config.rope_factors = read_rope_factors(file, "rope_freqs.weight", config.head_dim);
  return config;
}

// ---- weights

Llama::Llama(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
    : Decoder(model_type, config, tensors, kernels) {
  for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
    layers_.push_back(read_layer("model.layers." + std::to_string(layer) + ".", tensors));
  }
  read_head(tensors);
}

Llama::Layer Llama::read_layer(const std::string& prefix, TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t inner = config_.intermediate_size;
  const Arithmetic arithmetic = kernels_.arithmetic();
  Layer layer;
  layer.input_norm = tensors.vector(prefix + "input_layernorm.weight", hidden);
  layer.query_key_value = tensors.stacked({{prefix + "self_attn.q_proj.weight", query_size()},
                                           {prefix + "self_attn.k_proj.weight", key_value_size()},
                                           {prefix + "self_attn.v_proj.weight", key_value_size()}},
                                          hidden, arithmetic);
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

void Llama::run_layers(const TokenRows& batch, const PageMemory& memory, const Launch& launch) {
  const auto& [rotary, states, normed, query_key_value, attended, gated] = launch;
  const std::size_t rows = batch.rows;
  const std::size_t hidden = config_.hidden_size;
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    const PagePart keys = pages_.keys(memory, index);
    const PagePart values = pages_.values(memory, index);

    kernels_.normalize(states, layer.input_norm.data(), rows, hidden, epsilon(), normed);
    kernels_.multiply(layer.query_key_value.view(), normed, rows, attention_.row_floats,
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
