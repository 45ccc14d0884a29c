#include "gpu/transformer/architectures/transformer_config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"
#include "gpu/input/json_document.hpp"

namespace tempera::gpu {

namespace {

constexpr std::uint64_t largest_vocabulary = std::uint64_t{1} << 18;
constexpr std::uint64_t largest_width = std::uint64_t{1} << 17;
constexpr std::uint64_t largest_position = std::uint64_t{1} << 24;

void require_text(const JsonObject& config, const std::string& key, const std::string& only) {
  const auto text = config.text(key);
  if (text != only) {
    throw BadInput(
        config.where(), in_quotes(key) + " is " + in_quotes(text),
        "only " + in_quotes(only) + " is supported; choose a model of the Qwen3 architecture");
  }
}

void require_false(const JsonObject& config, const std::string& key) {
  if (config.boolean_or(key, false)) {
    throw BadInput(config.where(), in_quotes(key) + " is true",
                   "only false is supported; choose a model without it");
  }
}

void require_full_attention(const JsonObject& config) {
  require_false(config, "use_sliding_window");
  if (!config.has("layer_types")) return;
  for (const auto& type : config.array("layer_types")) {
    if (type != "full_attention") {
      throw BadInput(
          config.where(), "\"layer_types\" names " + in_quotes(type.dump(-1, ' ', true)),
          "only \"full_attention\" is supported; choose a model without sliding windows");
    }
  }
}

/// Both spellings of "the rotary positions are not scaled": `type` is the oldest one's key.
void require_default_rope(const JsonObject& rope) {
  for (const char* key : {"rope_type", "type"}) {
    if (rope.has(key)) require_text(rope, key, "default");
  }
}

double read_rope_theta(const JsonObject& config) {
  if (config.has("rope_scaling")) require_default_rope(config.object("rope_scaling"));
  if (config.has("rope_parameters")) {
    const auto rope = config.object("rope_parameters");
    require_default_rope(rope);
    return rope.positive_number("rope_theta");
  }
  return config.positive_number("rope_theta");
}

std::vector<std::uint32_t> read_eos_token_ids(const JsonObject& config, std::size_t vocab_size) {
  const std::string key = "eos_token_id";
  std::vector<std::uint32_t> ids;
  if (!config.has(key)) return ids;
  const auto append = [&](const nlohmann::json& id) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= vocab_size) {
      throw BadInput(config.where(), in_quotes(key) + " is not a token below vocab_size",
                     "give the number of a token, or a list of them");
    }
    ids.push_back(id.get<std::uint32_t>());
  };
  const auto& value = config.at(key);
  if (value.is_array()) {
    std::for_each(value.begin(), value.end(), append);
  } else {
    append(value);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

void require_consistent(const TransformerConfig& config, const std::string& where) {
  if (config.num_attention_heads % config.num_key_value_heads != 0) {
    throw BadInput(where, "\"num_key_value_heads\" does not divide \"num_attention_heads\"",
                   "give a divisor");
  }
  if (config.head_dim == 0 || config.head_dim % 2 != 0) {
    throw BadInput(where, "\"head_dim\" is " + std::to_string(config.head_dim),
                   "rotary positions need an even number above 0");
  }
}

TransformerConfig parse_transformer_config(std::string_view text, const std::string& where) {
  const auto document = parse_json(text, where);
  const JsonObject json(document, where);

  require_text(json, "model_type", "qwen3");
  if (json.has("quantization_config")) {
    throw BadInput(json.where(), "\"quantization_config\" is set",
                   "only F32 and BF16 weights are supported; choose the unquantised model");
  }
  require_text(json, "hidden_act", "silu");
  require_false(json, "attention_bias");
  require_full_attention(json);

  TransformerConfig config;
  config.vocab_size = json.whole_number("vocab_size", 1, largest_vocabulary);
  config.hidden_size = json.whole_number("hidden_size", 1, largest_width);
  config.intermediate_size = json.whole_number("intermediate_size", 1, largest_width);
  config.num_hidden_layers = json.whole_number("num_hidden_layers", 1, 1024);
  config.num_attention_heads = json.whole_number("num_attention_heads", 1, 1024);
  config.num_key_value_heads =
      json.whole_number("num_key_value_heads", 1, config.num_attention_heads);
  config.head_dim = json.has("head_dim") ? json.whole_number("head_dim", 1, 1024)
                                         : config.hidden_size / config.num_attention_heads;
  config.max_position_embeddings =
      json.whole_number("max_position_embeddings", 1, largest_position);
  config.rms_norm_eps = json.positive_number("rms_norm_eps");
  config.rope_theta = read_rope_theta(json);
  config.tie_word_embeddings = json.boolean_or("tie_word_embeddings", false);
  require_consistent(config, json.where());

  config.eos_token_ids = read_eos_token_ids(json, config.vocab_size);
  return config;
}

TransformerConfig read_transformer_config(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  auto config = parse_transformer_config(read_text_file(file), file.string());
  const auto generation_file = folder / "generation_config.json";
  if (std::filesystem::exists(generation_file)) {
    const auto generation_document = read_json_file(generation_file);
    const JsonObject generation(generation_document, generation_file.string());
    if (generation.has("eos_token_id")) {
      config.eos_token_ids = read_eos_token_ids(generation, config.vocab_size);
    }
  }
  return config;
}

}  // namespace tempera::gpu
