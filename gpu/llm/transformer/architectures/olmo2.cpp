#include "gpu/llm/transformer/architectures/olmo2.hpp"

#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/architectures/rope_scaling.hpp"

namespace tempera::gpu {

namespace {

constexpr double theta_of_olmo3 = 5e5;
constexpr std::size_t period_of_olmo3 = 4;

}  // namespace

DecoderConfig Olmo2::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  auto config = read_decoder_config(json, {"attention_bias"});
  require_full_attention(json, config.max_position_embeddings, false);
  set_rope(config, read_rope(json, {"yarn"}));
  return config;
}

DecoderConfig Olmo2::configuration(const GgufFile& file) {
  auto config =
      read_decoder_config(file, {"attention.sliding_window", "attention.sliding_window_pattern"});
  const auto& metadata = file.metadata();
  const std::string key = "olmo2.attention.sliding_window";
  if (!metadata.has(key)) return config;
  set_windows(config, read_sliding_layers(metadata, config.num_hidden_layers, period_of_olmo3),
              metadata.whole_number(key, 0, UINT32_MAX));
  return config;
}

DecoderConfig Olmo3::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  auto config = read_decoder_config(json, {"attention_bias"});
  const std::size_t layers = config.num_hidden_layers;
  const auto of_whole = rope_of_layers(json, "full_attention");
  set_rope(config, read_rope(JsonObject(of_whole, json.where()), {"yarn"}, theta_of_olmo3));
  auto of_sliding = rope_of_layers(json, "sliding_attention");
  const bool is_parted =
      json.has("rope_parameters") && json.object("rope_parameters").has("sliding_attention");
  config.local_rope_theta =
      is_parted ? read_rope(JsonObject(of_sliding, json.where()), {}, theta_of_olmo3).theta
                : config.rope_theta;
  const bool rotates_alike = config.rope_factors.empty() && config.rope_magnitude == 1.0 &&
                             config.local_rope_theta == config.rope_theta;
  set_windows(config, read_sliding_layers(json, layers, all_but_every(period_of_olmo3, layers)),
              read_window(json),
              rotates_alike ? LayerAttention::Rotation::usual : LayerAttention::Rotation::local);
  return config;
}

}  // namespace tempera::gpu
