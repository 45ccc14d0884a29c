#include "gpu/llm/transformer/architectures/qwen3.hpp"

#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

DecoderConfig Qwen3::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  auto config = read_decoder_config(json, {"attention_bias", "max_window_layers"});
  require_full_attention(json, config.max_position_embeddings, true);
  config.rope_theta = read_rope_theta(json);
  return config;
}

DecoderConfig Qwen3::configuration(const GgufFile& file) { return read_decoder_config(file, {}); }

}  // namespace tempera::gpu
