#include "gpu/llm/transformer/architectures/ministral3.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "gpu/llm/transformer/architectures/mistral.hpp"
#include "gpu/llm/transformer/architectures/rope_scaling.hpp"

namespace tempera::gpu {

namespace {

constexpr const char* rope_key = "rope_parameters";
constexpr const char* growth_key = "llama_4_scaling_beta";
constexpr const char* original_key = "original_max_position_embeddings";

}  // namespace

DecoderConfig Ministral3::configuration(const JsonObject& given) {
  auto document = with_defaults(given, defaults);
  const JsonObject rope = given.object(rope_key);
  const double growth = rope.finite_number(growth_key);
  const double original = rope.positive_number(original_key);
  // The rest of the description is YaRN's own; this key says once more how long texts are.
  document[rope_key].erase(growth_key);
  document[rope_key].erase("max_position_embeddings");
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  auto config = read_decoder_config(json, {});
  require_no_layer_types(json);
  set_rope(config, read_rope(json, {"yarn"}));
  if (growth != 0.0 && original < static_cast<double>(config.max_position_embeddings)) {
    config.max_position_embeddings = static_cast<std::size_t>(std::max(original, 1.0));
    config.remark = "texts of at most " + std::to_string(config.max_position_embeddings) +
                    " tokens: beyond them its queries grow, which is not computed";
  }
  set_windows(config, std::vector<bool>(config.num_hidden_layers, true), read_window(json));
  return config;
}

DecoderConfig Ministral3::outer_configuration(const JsonObject& json) {
  require_text(json, "model_type", outer_model_type);
  constexpr std::array<std::string_view, 9> known{
      "image_token_id",       "image_token_index",  "model_type",  "multimodal_projector_bias",
      "projector_hidden_act", "spatial_merge_size", "text_config", "vision_config",
      "vision_feature_layer"};
  require_known_keys(json, known, {"quantization_config", "tie_word_embeddings"});
  const JsonObject inner = json.object("text_config");
  auto text = with_defaults(inner, {});
  for (const char* key :
       {"dtype", "torch_dtype", "eos_token_id", "quantization_config", "tie_word_embeddings"})
    if (json.has(key) && !inner.has(key)) text[key] = json.at(key);
  auto config = configuration(JsonObject(text, json.where() + ", \"text_config\""));
  config.remark = "the text model alone: images are not seen" +
                  (config.remark.empty() ? "" : "; " + config.remark);
  return config;
}

}  // namespace tempera::gpu
