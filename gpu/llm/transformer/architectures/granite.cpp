#include "gpu/llm/transformer/architectures/granite.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace tempera::gpu {

DecoderConfig Granite::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  auto config =
      read_decoder_config(json, {"attention_bias", "attention_multiplier", "embedding_multiplier",
                                 "logits_scaling", "residual_multiplier"});
  require_full_attention(json, config.max_position_embeddings, false);
  config.rope_theta = read_rope_theta(json);
  config.attention_scale = json.positive_number("attention_multiplier");
  config.embedding_scale = json.positive_number("embedding_multiplier");
  config.residual_scale = json.positive_number("residual_multiplier");
  config.logits_divisor = json.positive_number("logits_scaling");
  return config;
}

DecoderConfig Granite::configuration(const GgufFile& file) {
  auto config = read_decoder_config(
      file, {"attention.scale", "embedding_scale", "residual_scale", "logit_scale"});
  const auto& metadata = file.metadata();
  // As in llama.cpp, 0 and a missing key ask for nothing.
  const auto read = [&](const char* name, double& value) {
    const std::string key = std::string("granite.") + name;
    if (!metadata.has(key)) return;
    const double given = metadata.finite_number(key);
    if (given < 0.0) throw BadInput(metadata.where(key), "is below 0", "convert the model again");
    if (given != 0.0) value = given;
  };
  read("attention.scale", config.attention_scale);
  read("embedding_scale", config.embedding_scale);
  read("residual_scale", config.residual_scale);
  read("logit_scale", config.logits_divisor);
  return config;
}

}  // namespace tempera::gpu
