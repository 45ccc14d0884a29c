#include "gpu/llm/transformer/architectures/gemma3.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/architectures/rope_scaling.hpp"

namespace tempera::gpu {

namespace {

constexpr double global_theta = 1e6;
constexpr double local_theta = 1e4;
constexpr std::size_t usual_pattern = 6;

/// sqrt(hidden_size), rounded to the type that transformers has the embedding in.
double embedding_scale(std::size_t hidden_size, const std::string& dtype,
                       const std::string& where) {
  const double root = std::sqrt(static_cast<double>(hidden_size));
  if (dtype == "float32") return static_cast<double>(static_cast<float>(root));
  if (dtype == "bfloat16")
    return static_cast<double>(from_bfloat16(to_bfloat16(static_cast<float>(root))));
  throw BadInput(
      where, "\"dtype\" is " + in_quotes(dtype),
      "only \"bfloat16\" and \"float32\" are supported, which decide how the embeddings' "
      "scale is rounded; use the config.json that belongs to these weights");
}

std::string dtype_of(const JsonObject& json) {
  for (const char* key : {"dtype", "torch_dtype"})
    if (json.has(key)) return json.text(key);
  return "float32";
}

void read_pattern(const JsonObject& json, DecoderConfig& config) {
  std::size_t period = usual_pattern;
  for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"})
    if (json.has(key)) period = json.whole_number(key, 1, most_layers);
  const auto sliding = read_sliding_layers(json, config.num_hidden_layers,
                                           all_but_every(period, config.num_hidden_layers));
  set_windows(config, sliding, read_window(json, 1), LayerAttention::Rotation::local);
}

void read_rotation(const JsonObject& json, DecoderConfig& config) {
  const auto global = rope_of_layers(json, "full_attention");
  const auto rope = read_rope(JsonObject(global, json.where()), {"linear"}, global_theta);
  config.rope_theta = rope.theta;
  if (rope.scaling) config.rope_factors = linear_scaling(*rope.scaling, config.head_dim).factors;
  const std::string old = "rope_local_base_freq";
  const double usual = json.has(old) ? json.positive_number(old) : local_theta;
  auto local = rope_of_layers(json, "sliding_attention");
  // The keys of all layers are those of the layers that see whole texts.
  for (const char* key : {"rope_theta", "rope_scaling"}) local.erase(key);
  if (json.has("rope_parameters") && local.contains("rope_parameters") &&
      local["rope_parameters"] == json.at("rope_parameters")) {
    local.erase("rope_parameters");
  }
  config.local_rope_theta = read_rope(JsonObject(local, json.where()), {}, usual).theta;
}

}  // namespace

DecoderConfig Gemma3::configuration(const JsonObject& given) {
  auto document = with_defaults(given, defaults);
  std::size_t stored = 0;
  {
    const std::string key = "vocab_size";
    stored = JsonObject(document, given.where())
                 .whole_number(key, 1, largest_vocabulary_size + most_tokens_of_images);
    if (stored > largest_vocabulary_size) document[key] = largest_vocabulary_size;
  }
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  require_false(json, "use_bidirectional_attention");
  auto config = read_decoder_config(
      json,
      {"attention_bias", "cache_implementation", "hidden_activation", "query_pre_attn_scalar",
       "rope_local_base_freq", "sliding_window_pattern", "_sliding_window_pattern",
       "use_bidirectional_attention"},
      {"hidden_activation", "gelu_pytorch_tanh"});
  leave_out_tokens_of_images(config, stored);
  read_pattern(json, config);
  read_rotation(json, config);
  config.attention_scale = 1.0 / std::sqrt(json.positive_number("query_pre_attn_scalar"));
  config.embedding_scale = embedding_scale(config.hidden_size, dtype_of(json), json.where());
  config.norms_are_differences = true;
  return config;
}

DecoderConfig Gemma3::outer_configuration(const JsonObject& json) {
  require_text(json, "model_type", outer_model_type);
  const JsonObject inner = json.object("text_config");
  auto text = nlohmann::json::object();
  for (const auto& key : inner.keys())
    text[key] = inner.has(key) ? inner.at(key) : nlohmann::json();
  // A folder says these once, of both of its models.
  for (const char* key : {"dtype", "torch_dtype", "eos_token_id", "quantization_config"})
    if (json.has(key) && !inner.has(key)) text[key] = json.at(key);
  require_known_keys(
      json,
      std::array<std::string_view, 8>{"boi_token_index", "eoi_token_index", "image_token_index",
                                      "mm_tokens_per_image", "model_type", "quantization_config",
                                      "text_config", "vision_config"},
      {"boi_token_id", "eoi_token_id", "image_token_id", "tie_word_embeddings"});
  auto config = configuration(JsonObject(text, json.where() + ", \"text_config\""));
  config.remark = text_alone + (config.remark.empty() ? "" : "; " + config.remark);
  return config;
}

DecoderConfig Gemma3::configuration(const GgufFile& file) {
  auto config =
      read_decoder_config(file, {"attention.sliding_window", "attention.sliding_window_pattern",
                                 "rope.freq_base_swa", "rope.scaling.type", "rope.scaling.factor"});
  const auto& metadata = file.metadata();
  const auto key = [](const char* name) { return std::string("gemma3.") + name; };
  if (!metadata.has(key("rope.freq_base"))) config.rope_theta = global_theta;
  if (metadata.has(key("rope.freq_base_swa")))
    config.local_rope_theta = metadata.finite_number(key("rope.freq_base_swa"));
  if (metadata.has(key("rope.scaling.factor"))) {
    const auto type = key("rope.scaling.type");
    if (metadata.has(type) && metadata.text(type) != "linear") {
      throw BadInput(metadata.where(type), "is " + in_quotes(metadata.text(type)),
                     "only \"linear\" is supported; convert the model again");
    }
    const double factor = metadata.finite_number(key("rope.scaling.factor"));
    if (!(factor > 0.0)) {
      throw BadInput(metadata.where(key("rope.scaling.factor")), "is not above 0",
                     "convert the model again");
    }
    if (factor != 1.0) config.rope_factors.assign(config.head_dim / 2, factor);
  }
  set_windows(config, read_sliding_layers(metadata, config.num_hidden_layers, usual_pattern),
              metadata.whole_number(key("attention.sliding_window"), 0, UINT32_MAX),
              LayerAttention::Rotation::local);
  // llama.cpp has the scale of the 27B model by its number of layers.
  constexpr std::size_t layers_of_27b = 62;
  const std::size_t scalar = config.num_hidden_layers == layers_of_27b
                                 ? config.hidden_size / config.num_attention_heads
                                 : config.head_dim;
  config.attention_scale = 1.0 / std::sqrt(static_cast<double>(scalar));
  config.embedding_scale = embedding_scale(config.hidden_size, "float32", metadata.file());
  return config;
}

}  // namespace tempera::gpu
