#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::gpu {

namespace {

constexpr const char* number_key = "num_experts";
constexpr const char* later_number_key = "num_local_experts";

/// Every `decoder_sparse_step`-th layer has experts, but for those of `mlp_only_layers`.
std::vector<bool> layers_with_experts(const JsonObject& json, std::size_t layers) {
  const std::size_t step = json.whole_number("decoder_sparse_step", 1, most_layers);
  std::vector<bool> result;
  for (std::size_t layer = 0; layer < layers; ++layer) result.push_back((layer + 1) % step == 0);
  if (!json.has("mlp_only_layers")) return result;
  for (const auto layer : json.whole_numbers("mlp_only_layers", 0, layers - 1))
    result[layer] = false;
  return result;
}

}  // namespace

std::size_t read_expert_number(const JsonObject& json) {
  if (json.has(number_key) && json.has(later_number_key) &&
      json.at(number_key) != json.at(later_number_key)) {
    throw BadInput(
        json.where(),
        in_quotes(number_key) + " and " + in_quotes(later_number_key) + " are not the same",
        "remove one of the two");
  }
  return json.whole_number(json.has(later_number_key) ? later_number_key : number_key, 1,
                           most_experts);
}

ExpertsConfig read_experts(const JsonObject& json, std::size_t layers) {
  ExpertsConfig experts;
  experts.experts = read_expert_number(json);
  experts.chosen = json.whole_number("num_experts_per_tok", 1, experts.experts);
  experts.inner = json.whole_number("moe_intermediate_size", 1, largest_width);
  experts.layers.assign(layers, true);
  return experts;
}

ExpertsConfig read_experts(const GgufFile& file, const DecoderConfig& config) {
  const auto& metadata = file.metadata();
  const auto key = [&](const char* name) { return key_of(metadata, name); };
  ExpertsConfig experts;
  experts.experts = metadata.whole_number(key("expert_count"), 1, most_experts);
  experts.chosen = metadata.whole_number(key("expert_used_count"), 1, experts.experts);
  experts.renormalises = true;
  const std::string norm = key("expert_weights_norm");
  if (!metadata.boolean_or(norm, true)) {
    throw BadInput(metadata.where(norm), "is false, which llama.cpp does not compute either",
                   "convert the model again");
  }
  const std::string inner = key("expert_feed_forward_length");
  if (metadata.has(inner)) {
    experts.inner = metadata.whole_number(inner, 1, largest_width);
  } else if (config.intermediate_size % experts.chosen == 0) {
    experts.inner = config.intermediate_size / experts.chosen;  // as in llama.cpp
  } else {
    throw BadInput(metadata.where(inner),
                   "is missing, and " + std::to_string(experts.chosen) +
                       " experts do not divide the feed_forward_length of " +
                       std::to_string(config.intermediate_size),
                   "convert the model again, with a newer converter");
  }
  experts.layers.assign(config.num_hidden_layers, true);
  return experts;
}

DecoderConfig Qwen3Moe::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  auto config =
      read_decoder_config(json, {"attention_bias", "decoder_sparse_step", "max_window_layers",
                                 "mlp_only_layers", "moe_intermediate_size", "norm_topk_prob",
                                 number_key, later_number_key, "num_experts_per_tok",
                                 // what training adds to its loss, and what others give back
                                 "output_router_logits", "router_aux_loss_coef"});
  // A window that is switched on is one of all layers, whatever max_window_layers says.
  require_full_attention(json, config.max_position_embeddings, false);
  config.rope_theta = read_rope_theta(json);
  config.experts = read_experts(json, config.num_hidden_layers);
  config.experts->renormalises = json.boolean("norm_topk_prob");
  config.experts->layers = layers_with_experts(json, config.num_hidden_layers);
  return config;
}

DecoderConfig Qwen3Moe::configuration(const GgufFile& file) {
  auto config = read_decoder_config(file, {});
  config.experts = read_experts(file, config);
  return config;
}

}  // namespace tempera::gpu
