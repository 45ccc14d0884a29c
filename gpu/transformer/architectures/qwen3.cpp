#include "gpu/transformer/architectures/qwen3.hpp"

#include <nlohmann/json.hpp>

#include "gpu/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

DecoderConfig Qwen3::configuration(const JsonObject& json) {
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  require_full_attention(json);
  auto config =
      read_decoder_config(json, {"attention_bias", "max_window_layers", "sliding_window"});
  config.rope_theta = read_rope_theta(json);
  return config;
}

DecoderConfig Qwen3::configuration(const GgufFile& file) { return read_decoder_config(file, {}); }

}  // namespace tempera::gpu
