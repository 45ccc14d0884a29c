#include "gpu/llm/transformer/architectures/dense_decoder.hpp"

#include <limits>

#include "base/error.hpp"

namespace tempera::gpu {

// ---- what a form has to compute

namespace {

using Norms = DenseTraits::Norms;
using Gate = DenseTraits::Gate;
using Rotation = LayerAttention::Rotation;

/// True if the layers are those of Kernels::run_dense_layers.
bool are_usual(const DenseTraits& traits, const DecoderConfig& config) {
  return traits.norms == Norms::before && traits.gate == Gate::silu &&
         !traits.has_projection_norms && !traits.has_output_bias && !traits.has_sinks &&
         config.layer_attention.empty() && config.attention_scale == 0.0 &&
         config.embedding_scale == 1.0 && config.residual_scale == 1.0 && !config.experts;
}

/// For what a base class is made of, before anything is read.
const DecoderConfig& computable(const DenseTraits& traits, const DecoderConfig& config,
                                const Kernels& kernels) {
  require_kernels(traits, config, kernels,
                  "the configuration of a " + std::string(traits.model_type) + " model");
  return config;
}

/// Factors that make every frequency 0.
std::vector<double> no_frequencies(std::size_t rotary_dim) {
  return std::vector<double>(rotary_dim / 2, std::numeric_limits<double>::infinity());
}

}  // namespace

void require_kernels(const DenseTraits& traits, const DecoderConfig& config, const Kernels& kernels,
                     const std::string& where) {
  kernels.require_attention(attention_shape(config), where);
  require_experts(config, kernels, where);
  if (are_usual(traits, config) || kernels.variants() != nullptr) return;
  throw BadInput(where,
                 "is that of a " + std::string(traits.model_type) + " model, whose layers the " +
                     std::string(name_of(kernels.arithmetic())) +
                     " kernels of this device do not compute",
                 "use --arithmetic float32, or another with --device host");
}

DenseDecoder::DenseDecoder(const DenseTraits& traits, const DecoderConfig& config,
                           TensorSource& tensors, const Kernels& kernels)
    : Decoder(traits.model_type, computable(traits, config, kernels), tensors, kernels),
      traits_(traits),
      local_angles_(config_.local_rope_theta, rotated_elements(config_),
                    config_.max_position_embeddings),
      no_angles_(config_.rope_theta, rotated_elements(config_), config_.max_position_embeddings,
                 no_frequencies(rotated_elements(config_))),
      of_experts_(kernels.arithmetic()) {
  for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
    layers_.push_back(read_layer(layer, tensors));
    if (const auto& experts = layers_.back().experts) idle_work_ += experts->idle_work();
  }
  // A logit is a product with the final norm's output: its weight divides as well.
  read_head(tensors,
            read_norm("model.norm.weight", config_.hidden_size, tensors, config_.logits_divisor));
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

DeviceMemory<float> DenseDecoder::read_norm(const std::string& name, std::size_t size,
                                            TensorSource& tensors, double divisor) const {
  if (!config_.norms_are_differences && divisor == 1.0) return tensors.vector(name, size);
  auto weight = tensors.elements(name, {size});
  for (float& w : weight) {
    if (config_.norms_are_differences) w += 1.0F;
    w = static_cast<float>(static_cast<double>(w) / divisor);
  }
  return DeviceMemory<float>(std::span<const float>(weight));
}

void DenseDecoder::read_norms(const std::string& prefix, TensorSource& tensors,
                              Layer& layer) const {
  const std::size_t hidden = config_.hidden_size;
  const auto norm = [&](const char* name) {
    return read_norm(prefix + name + ".weight", hidden, tensors);
  };
  if (traits_.norms != Norms::after) layer.input_norm = norm("input_layernorm");
  if (traits_.has_head_norms) {
    layer.query_norm = read_norm(prefix + "self_attn.q_norm.weight", config_.head_dim, tensors);
    layer.key_norm = read_norm(prefix + "self_attn.k_norm.weight", config_.head_dim, tensors);
  } else if (traits_.has_projection_norms) {
    layer.query_norm = read_norm(prefix + "self_attn.q_norm.weight", query_size(), tensors);
    layer.key_norm = read_norm(prefix + "self_attn.k_norm.weight", key_value_size(), tensors);
  }
  if (traits_.norms == Norms::before) {
    layer.post_attention_norm = norm("post_attention_layernorm");
    return;
  }
  layer.attended_norm = norm("post_attention_layernorm");
  if (traits_.norms == Norms::around) layer.post_attention_norm = norm("pre_feedforward_layernorm");
  layer.gated_norm = norm("post_feedforward_layernorm");
}

DenseDecoder::Layer DenseDecoder::read_layer(std::size_t index, TensorSource& tensors) const {
  const std::string prefix = "model.layers." + std::to_string(index) + ".";
  const std::size_t hidden = config_.hidden_size;
  const Arithmetic arithmetic = kernels_.arithmetic();
  Layer layer;
  read_norms(prefix, tensors, layer);
  layer.query_key_value = read_query_key_value(prefix, tensors);
  if (traits_.has_biases) {
    layer.query_key_value_bias =
        tensors.stacked_vector({{prefix + "self_attn.q_proj.bias", query_size()},
                                {prefix + "self_attn.k_proj.bias", key_value_size()},
                                {prefix + "self_attn.v_proj.bias", key_value_size()}});
  }
  if (traits_.has_sinks)
    layer.sinks = tensors.vector(prefix + "self_attn.sinks", config_.num_attention_heads);
  if (traits_.has_output_bias)
    layer.output_bias = tensors.stacked_vector({{prefix + "self_attn.o_proj.bias", hidden}});
  layer.attention_output =
      tensors.matrix(prefix + "self_attn.o_proj.weight", hidden, query_size(), arithmetic);
  if (config_.experts && config_.experts->layers[index]) {
    layer.experts.emplace(prefix + "mlp.", hidden, *config_.experts, tensors, arithmetic);
    return layer;
  }
  layer.gate_up = read_gate_up(prefix, tensors);
  layer.down = tensors.matrix(prefix + "mlp.down_proj.weight", hidden, config_.intermediate_size,
                              arithmetic);
  return layer;
}

// ---- forward pass

void DenseDecoder::run_layers(const TokenRows& batch, const PageMemory& memory,
                              const Launch& launch) {
  if (!are_usual(traits_, config_))
    return run_variant_layers(*kernels_.variants(), batch, memory, launch);
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

void DenseDecoder::run_variant_layers(const VariantKernels& variants, const TokenRows& batch,
                                      const PageMemory& memory, const Launch& launch) {
  branch_.ensure_size(batch.rows * config_.hidden_size);
  if (config_.embedding_scale != 1.0) {
    variants.scale(launch.states, batch.rows, config_.hidden_size,
                   static_cast<float>(config_.embedding_scale));
  }
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    attend(variants, layers_[index], index, batch, memory, launch);
    feed_forward(variants, layers_[index], batch.rows, launch);
  }
}

void DenseDecoder::attend(const VariantKernels& variants, const Layer& layer, std::size_t index,
                          const TokenRows& batch, const PageMemory& memory, const Launch& launch) {
  const float* const bias = traits_.has_biases ? layer.query_key_value_bias.data() : nullptr;
  const auto matrix = layer.query_key_value.view();
  float* const row = launch.query_key_value;
  if (traits_.norms != Norms::after) {
    kernels_.normalize_and_multiply(
        {launch.states, layer.input_norm.data(), epsilon(), launch.normed}, matrix, bias,
        batch.rows, attention_.row_floats, row);
  } else {
    variants.take(launch.states, batch.rows, config_.hidden_size, launch.normed);
    if (bias == nullptr) {
      kernels_.multiply(matrix, launch.normed, batch.rows, attention_.row_floats, row);
    } else {
      kernels_.multiply_with_bias(matrix, launch.normed, bias, batch.rows, attention_.row_floats,
                                  row);
    }
  }
  if (traits_.has_projection_norms) {
    variants.normalize_part(row, batch.rows, attention_.row_floats, query_size(),
                            layer.query_norm.data(), epsilon());
    variants.normalize_part(row + attention_.key_begin, batch.rows, attention_.row_floats,
                            key_value_size(), layer.key_norm.data(), epsilon());
  }
  const auto how =
      config_.layer_attention.empty() ? LayerAttention{} : config_.layer_attention[index];
  const auto rotary = how.rotation == Rotation::usual   ? launch.rotary
                      : how.rotation == Rotation::local ? local_angles_.up_to(batch.context)
                                                        : no_angles_.up_to(batch.context);
  const auto keys = pages_.keys(memory, index);
  const auto values = pages_.values(memory, index);
  const auto of_heads = [&](const DeviceMemory<float>& norm) {
    return traits_.has_head_norms ? norm.data() : nullptr;
  };
  kernels_.rotate_into_pages(attention_, of_heads(layer.query_norm), of_heads(layer.key_norm),
                             epsilon(), rotary, batch, keys, values, row);
  variants.attend_within(attention_,
                         {how.window, static_cast<float>(config_.attention_scale),
                          traits_.has_sinks ? layer.sinks.data() : nullptr},
                         row, batch, keys, values, launch.attended);
  add_product(variants, layer.attention_output,
              traits_.has_output_bias ? layer.output_bias.data() : nullptr, launch.attended,
              layer.attended_norm, batch.rows, launch);
}

void DenseDecoder::feed_forward(const VariantKernels& variants, const Layer& layer,
                                std::size_t rows, const Launch& launch) {
  if (traits_.norms != Norms::after) {
    kernels_.normalize(launch.states, layer.post_attention_norm.data(), rows, config_.hidden_size,
                       epsilon(), launch.normed);
  } else {
    variants.take(launch.states, rows, config_.hidden_size, launch.normed);
  }
  if (layer.experts)
    return layer.experts->add(kernels_, launch.normed, rows, launch.states, of_experts_);
  const auto matrix = layer.gate_up.view();
  const std::size_t inner = config_.intermediate_size;
  if (traits_.gate == Gate::silu) {
    kernels_.multiply_gated(matrix, launch.normed, rows, inner, launch.gated);
  } else {
    wide_.ensure_size(rows * matrix.out);
    kernels_.multiply(matrix, launch.normed, rows, matrix.out, wide_.data());
    variants.gate_by_gelu(wide_.data(), rows, matrix.out, matrix.out / 2, inner, launch.gated);
  }
  add_product(variants, layer.down, nullptr, launch.gated, layer.gated_norm, rows, launch);
}

/// Adds what a block's last matrix gives to the stream.
void DenseDecoder::add_product(const VariantKernels& variants, const PackedMatrix& matrix,
                               const float* bias, const ProductInputs& inputs,
                               const DeviceMemory<float>& norm, std::size_t rows,
                               const Launch& launch) {
  const std::size_t hidden = config_.hidden_size;
  if (traits_.norms == Norms::before && config_.residual_scale == 1.0 && bias == nullptr)
    return kernels_.multiply_and_add(matrix.view(), inputs, rows, hidden, launch.states);
  if (bias == nullptr)
    kernels_.multiply(matrix.view(), inputs, rows, hidden, branch_.data());
  else
    kernels_.multiply_with_bias(matrix.view(), inputs, bias, rows, hidden, branch_.data());
  variants.add_branch(branch_.data(),
                      {traits_.norms == Norms::before ? nullptr : norm.data(), epsilon(),
                       static_cast<float>(config_.residual_scale)},
                      rows, hidden, launch.states);
}

}  // namespace tempera::gpu
