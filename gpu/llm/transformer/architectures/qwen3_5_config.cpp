#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"
#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"

namespace tempera::gpu {

namespace {

constexpr std::uint64_t most_taps = 8;
// The architecture's own, where a file is silent.
constexpr std::size_t usual_interval = 4;
constexpr double usual_rotation = 0.25;

/// Whether each layer is the last of `interval`.
std::vector<bool> attention_at_every(std::size_t interval, std::size_t layers) {
  std::vector<bool> full_attention;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    full_attention.push_back((layer + 1) % interval == 0);
  }
  return full_attention;
}

void require_rotary(const Qwen3_5Config& config, const std::string& where) {
  if (config.rotary_dim < 2 || config.rotary_dim % 2 != 0 || config.rotary_dim > config.head_dim) {
    throw BadInput(where,
                   "rotates " + std::to_string(config.rotary_dim) + " of " +
                       std::to_string(config.head_dim) + " elements of a head",
                   "rotary positions need an even number from 2 to all of them");
  }
}

// ---- config.json

/// Base of the rotary positions and how much of a head they rotate.
void read_partial_rotary(const JsonObject& json, Qwen3_5Config& config) {
  const auto rope = read_partial_rope(json, {}, usual_rotation);
  config.rope_theta = rope.theta;
  const double rotary = static_cast<double>(config.head_dim) * rope.rotation;
  config.rotary_dim = static_cast<std::size_t>(std::min(rotary, 1e6));
  require_rotary(config, json.where() + ", \"partial_rotary_factor\"");
}

std::vector<bool> read_layer_types(const JsonObject& json, std::size_t layers) {
  if (!json.has("layer_types")) {
    return attention_at_every(json.whole_number("full_attention_interval", 1, most_layers), layers);
  }
  std::vector<bool> full_attention;
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

/// Refuses a sliding window that is shorter than the longest text; read_layer_types reads the
/// layers.
void require_no_window(const JsonObject& json, std::size_t longest) {
  nlohmann::json window;
  for (const char* key : {"sliding_window", "use_sliding_window"})
    if (json.has(key)) window[key] = json.at(key);
  if (!window.empty()) require_full_attention(JsonObject(window, json.where()), longest, false);
}

/// The gate on what a recurrent layer answers; "swish" is another name of silu.
void require_silu_gate(const JsonObject& json) {
  const std::string key = "output_gate_type";
  if (json.has(key) && json.text(key) != "swish") require_text(json, key, "silu");
}

}  // namespace

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

namespace {

/// Reads the experts of a model that has them, and takes their keys out of its configuration.
ExpertsConfig take_experts(const JsonObject& json, nlohmann::json& rest) {
  auto experts = read_experts(json, json.whole_number("num_hidden_layers", 1, most_layers));
  experts.shared_inner = json.whole_number("shared_expert_intermediate_size", 1, largest_width);
  experts.renormalises = json.boolean_or("norm_topk_prob", true);
  if (!experts.renormalises) {
    throw BadInput(json.where(), "\"norm_topk_prob\" is false",
                   "transformers divides these weights by their sum; remove the key");
  }
  for (const char* key : {"moe_intermediate_size", "norm_topk_prob", "num_experts",
                          "num_experts_per_tok", "num_local_experts", "output_router_logits",
                          "router_aux_loss_coef", "shared_expert_intermediate_size"})
    rest.erase(key);
  // No layer is dense: the size of such a one is not said.
  rest["intermediate_size"] = experts.inner;
  return experts;
}

}  // namespace

Qwen3_5Config Qwen3_5::configuration(const JsonObject& given) {
  const bool has_experts = given.optional_text("model_type") == moe_model_type;
  const auto of_experts = has_experts ? with_defaults(given, moe_defaults) : nlohmann::json();
  auto document =
      with_defaults(has_experts ? JsonObject(of_experts, given.where()) : given, defaults);
  std::optional<ExpertsConfig> experts;
  if (has_experts) experts = take_experts(JsonObject(of_experts, given.where()), document);
  const JsonObject json(document, given.where());
  if (!has_experts) require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  if (!json.boolean_or("attn_output_gate", true)) {
    throw BadInput(json.where(), "\"attn_output_gate\" is false",
                   "only gated attention is supported; choose a model that has it");
  }
  require_silu_gate(json);
  Qwen3_5Config config;
  static_cast<DecoderConfig&>(config) = read_decoder_config(
      json, {"attention_bias", "attn_output_gate", "full_attention_interval",
             "linear_conv_kernel_dim", "linear_key_head_dim", "linear_num_key_heads",
             "linear_num_value_heads", "linear_value_head_dim", "output_gate_type",
             // how others hold the recurrent state, and the heads that predict several tokens
             "mamba_ssm_dtype", "mtp_num_hidden_layers", "mtp_use_dedicated_embeddings"});
  config.experts = std::move(experts);
  read_partial_rotary(json, config);
  config.full_attention = read_layer_types(json, config.num_hidden_layers);
  require_no_window(json, config.max_position_embeddings);
  config.linear_num_key_heads = json.whole_number("linear_num_key_heads", 1, most_heads);
  config.linear_num_value_heads = json.whole_number("linear_num_value_heads", 1, most_heads);
  config.linear_key_head_dim = json.whole_number("linear_key_head_dim", 1, largest_head);
  config.linear_value_head_dim = json.whole_number("linear_value_head_dim", 1, largest_head);
  config.linear_conv_kernel_dim = json.whole_number("linear_conv_kernel_dim", 2, most_taps);
  require_gated_delta_net(config, json.where());
  return config;
}

Qwen3_5Config Qwen3_5::outer_configuration(const JsonObject& json) {
  if (json.text("model_type") != outer_moe_model_type)
    require_text(json, "model_type", outer_model_type);
  require_unquantised(json);
  constexpr std::array<std::string_view, 11> known{
      "image_token_id",      "language_model_only",   "model_type",     "quantization_config",
      "text_config",         "tie_word_embeddings",   "video_token_id", "vision_config",
      "vision_end_token_id", "vision_start_token_id", "vision_token_id"};
  require_known_keys(json, known);
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
  config.remark = text_alone;
  return config;
}

// ---- GGUF

namespace {

/// Blocks after those of the model predict further tokens: convert_hf_to_gguf.py counts them in.
void leave_out_prediction(const GgufMetadata& metadata, Qwen3_5Config& config) {
  config.num_blocks = config.num_hidden_layers;
  const std::string key = key_of(metadata, "nextn_predict_layers");
  if (!metadata.has(key)) return;
  const std::size_t layers = metadata.whole_number(key, 0, config.num_hidden_layers - 1);
  config.num_hidden_layers -= layers;
  if (layers > 0) config.remark = Qwen3_5::predicts_one;
}

/// How much of a head rotates. The sections are the shares of the axes of images, which agree at
/// every position of a text: three axes, and one that no Qwen3.5 has.
void read_partial_rotary(const GgufMetadata& metadata, Qwen3_5Config& config) {
  const std::string key = key_of(metadata, "rope.dimension_count");
  config.rotary_dim = metadata.whole_number(key, 1, largest_head);
  require_rotary(config, metadata.where(key));
  const std::string sections = key_of(metadata, "rope.dimension_sections");
  if (!metadata.has(sections)) return;
  const auto shares = metadata.whole_numbers(sections, 0, largest_head);
  if (shares.size() != 4 || shares[3] != 0) {
    throw BadInput(metadata.where(sections), "is not the shares of three axes and a 0",
                   "convert the model again");
  }
}

/// Older converters write the interval alone, newer ones all layers besides, which counts.
std::vector<bool> read_layer_types(const GgufMetadata& metadata, const Qwen3_5Config& config) {
  const std::string key = key_of(metadata, "attention.recurrent_layers");
  if (!metadata.has(key)) {
    const std::string interval = key_of(metadata, "full_attention_interval");
    return attention_at_every(
        metadata.has(interval) ? metadata.whole_number(interval, 1, most_layers) : usual_interval,
        config.num_hidden_layers);
  }
  auto layers = metadata.booleans(key);
  if (layers.size() != config.num_blocks) {
    throw BadInput(metadata.where(key),
                   "has " + std::to_string(layers.size()) + " truth values for " +
                       std::to_string(config.num_blocks) + " blocks",
                   "convert the model again");
  }
  layers.resize(config.num_hidden_layers);
  layers.flip();
  return layers;
}

void find_tiled_outputs(const GgufFile& file, Qwen3_5Config& config) {
  const auto tiled = Qwen3_5::gguf_order(config).tiled;
  for (std::size_t layer = 0; tiled && layer < config.num_hidden_layers; ++layer) {
    const auto found = file.tensors().find("blk." + std::to_string(layer) + ".ssm_out.weight");
    if (found != file.tensors().end() && found->second.shape.size() == 2 &&
        !tiled->can_reorder_inputs(found->second)) {
      config.tiled_outputs.insert(layer);
    }
  }
}

/// -exp(A_log) is below 0; what is above it is A_log itself, or nothing that decays.
void require_decays(const GgufFile& file, std::size_t layers) {
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::string name = "blk." + std::to_string(layer) + ".ssm_a";
    const auto found = file.tensors().find(name);
    if (found == file.tensors().end() || found->second.shape.size() != 1) continue;
    for (const float rate : read_vector(found->second)) {
      if (rate > 0.0F) {
        throw BadInput(file.metadata().file() + ", tensor " + in_quotes(name),
                       "has an element above 0, which would let memories grow",
                       "convert the model again");
      }
    }
  }
}

}  // namespace

Qwen3_5Config Qwen3_5::configuration(const GgufFile& file) {
  const auto& metadata = file.metadata();
  Qwen3_5Config config;
  static_cast<DecoderConfig&>(config) = read_decoder_config(
      file, {"rope.dimension_count", "rope.dimension_sections", "full_attention_interval",
             "attention.recurrent_layers", "nextn_predict_layers", "ssm.conv_kernel",
             "ssm.state_size", "ssm.group_count", "ssm.time_step_rank", "ssm.inner_size"});
  if (metadata.text("general.architecture") == gguf_moe_architecture) {
    config.experts = read_experts(file, config);
    config.experts->shared_inner = metadata.whole_number(
        key_of(metadata, "expert_shared_feed_forward_length"), 1, largest_width);
  }
  leave_out_prediction(metadata, config);
  read_partial_rotary(metadata, config);
  config.full_attention = read_layer_types(metadata, config);
  config.linear_num_key_heads =
      metadata.whole_number(key_of(metadata, "ssm.group_count"), 1, most_heads);
  config.linear_num_value_heads =
      metadata.whole_number(key_of(metadata, "ssm.time_step_rank"), 1, most_heads);
  config.linear_key_head_dim =
      metadata.whole_number(key_of(metadata, "ssm.state_size"), 1, largest_head);
  if (config.linear_num_value_heads % config.linear_num_key_heads != 0) {
    throw BadInput(metadata.where(key_of(metadata, "ssm.group_count")),
                   "does not divide ssm.time_step_rank", "convert the model again");
  }
  const std::string inner = key_of(metadata, "ssm.inner_size");
  const std::size_t answers = metadata.whole_number(inner, 1, most_heads * largest_head);
  config.linear_value_head_dim = answers / config.linear_num_value_heads;
  if (answers % config.linear_num_value_heads != 0) {
    throw BadInput(metadata.where(inner),
                   "is not a multiple of the " + std::to_string(config.linear_num_value_heads) +
                       " heads of ssm.time_step_rank",
                   "convert the model again");
  }
  config.linear_conv_kernel_dim =
      metadata.whole_number(key_of(metadata, "ssm.conv_kernel"), 2, most_taps);
  require_gated_delta_net(config, metadata.file());
  config.stores_factors = true;
  find_tiled_outputs(file, config);
  require_decays(file, config.num_hidden_layers);
  return config;
}

GgufOrder Qwen3_5::gguf_order(const Qwen3_5Config& config) {
  GgufOrder order;
  order.experts = config.experts ? config.experts->experts : 0;
  if (config.linear_num_key_heads != config.linear_num_value_heads) {
    order.tiled = {config.linear_num_key_heads, config.linear_num_value_heads,
                   2 * config.linear_num_key_heads * config.linear_key_head_dim};
  }
  return order;
}

}  // namespace tempera::gpu
