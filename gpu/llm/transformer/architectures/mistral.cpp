#include "gpu/llm/transformer/architectures/mistral.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/llm/transformer/architectures/rope_scaling.hpp"

namespace tempera::gpu {

namespace {

DecoderConfig read(const JsonObject& json, const char* model_type) {
  require_text(json, "model_type", model_type);
  auto config = read_decoder_config(json, {});
  set_rope(config, read_rope(json, {"yarn"}));
  return config;
}

}  // namespace

void require_no_layer_types(const JsonObject& json) {
  if (!json.has("layer_types")) return;
  throw BadInput(
      json.where(),
      "\"layer_types\" is given, which no model of " + in_quotes(json.text("model_type")) + " has",
      "remove it, or use the config.json that belongs to these weights");
}

DecoderConfig Mistral::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  auto config = read(json, model_type);
  require_no_layer_types(json);
  set_windows(config, std::vector<bool>(config.num_hidden_layers, true), read_window(json));
  return config;
}

DecoderConfig Ministral::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  auto config = read(json, model_type);
  const std::size_t layers = config.num_hidden_layers;
  set_windows(config, read_sliding_layers(json, layers, std::vector<bool>(layers, true)),
              read_window(json));
  return config;
}

}  // namespace tempera::gpu
