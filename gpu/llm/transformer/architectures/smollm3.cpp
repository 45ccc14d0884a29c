#include "gpu/llm/transformer/architectures/smollm3.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "gpu/llm/transformer/architectures/rope_scaling.hpp"

namespace tempera::gpu {

namespace {

constexpr double theta_of_smollm3 = 2e6;
constexpr std::size_t interval_of_smollm3 = 4;

void leave_out_rotations(DecoderConfig& config, const std::vector<bool>& rotates) {
  config.layer_attention.resize(config.num_hidden_layers);
  for (std::size_t layer = 0; layer < rotates.size(); ++layer)
    if (!rotates[layer]) config.layer_attention[layer].rotation = LayerAttention::Rotation::none;
}

std::vector<bool> read_rotating_layers(const JsonObject& json, std::size_t layers) {
  const std::string key = "no_rope_layers";
  if (!json.has(key))
    return all_but_every(json.whole_number("no_rope_layer_interval", 1, most_layers), layers);
  // 1 for a layer that rotates, whatever the name says.
  const auto numbers = json.whole_numbers(key, 0, 1);
  if (numbers.size() != layers) {
    throw BadInput(json.where(),
                   "\"no_rope_layers\" has " + std::to_string(numbers.size()) + " numbers for " +
                       std::to_string(layers) + " layers",
                   "use the config.json that belongs to these weights");
  }
  return {numbers.begin(), numbers.end()};
}

}  // namespace

DecoderConfig SmolLM3::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  auto config = read_decoder_config(
      json, {"attention_bias", "max_window_layers", "no_rope_layer_interval", "no_rope_layers"});
  set_rope(config, read_rope(json, {"yarn"}, theta_of_smollm3));
  const std::size_t layers = config.num_hidden_layers;
  const auto rotating = read_rotating_layers(json, layers);
  leave_out_rotations(config, rotating);
  const bool slides = json.boolean_or("use_sliding_window", false) && json.has("sliding_window");
  std::vector<bool> sliding(layers, false);
  for (std::size_t layer = 0; layer < layers; ++layer) sliding[layer] = slides && !rotating[layer];
  sliding = read_sliding_layers(json, layers, sliding);
  const std::size_t window = read_window(json);
  if (window == 0 || window >= config.max_position_embeddings) return config;
  for (std::size_t layer = 0; layer < layers; ++layer)
    if (sliding[layer]) config.layer_attention[layer].window = window;
  return config;
}

DecoderConfig SmolLM3::configuration(const GgufFile& file) {
  auto config = read_decoder_config(file, {});
  leave_out_rotations(config, all_but_every(interval_of_smollm3, config.num_hidden_layers));
  return config;
}

}  // namespace tempera::gpu
