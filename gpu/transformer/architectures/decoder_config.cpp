#include "gpu/transformer/architectures/decoder_config.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/transformer/architectures/model_config.hpp"
#include "gpu/transformer/weights/packed_matrix.hpp"

namespace tempera::gpu {

namespace {

constexpr std::uint64_t largest_vocabulary_size = std::uint64_t{1} << 18;
constexpr std::uint64_t largest_width = std::uint64_t{1} << 17;

/// What every architecture reads of a config.json, here or through model_config.hpp.
constexpr std::array<std::string_view, 19> common_json_keys{"head_dim",
                                                            "hidden_act",
                                                            "hidden_size",
                                                            "intermediate_size",
                                                            "layer_types",
                                                            "max_position_embeddings",
                                                            "model_type",
                                                            "num_attention_heads",
                                                            "num_hidden_layers",
                                                            "num_key_value_heads",
                                                            "partial_rotary_factor",
                                                            "quantization_config",
                                                            "rms_norm_eps",
                                                            "rope_parameters",
                                                            "rope_scaling",
                                                            "rope_theta",
                                                            "tie_word_embeddings",
                                                            "use_sliding_window",
                                                            "vocab_size"};

/// What every architecture's metadata may say, after its prefix.
constexpr std::array<std::string_view, 12> common_keys{"block_count",
                                                       "context_length",
                                                       "embedding_length",
                                                       "feed_forward_length",
                                                       "vocab_size",
                                                       "attention.head_count",
                                                       "attention.head_count_kv",
                                                       "attention.key_length",
                                                       "attention.value_length",
                                                       "attention.layer_norm_rms_epsilon",
                                                       "rope.freq_base",
                                                       "rope.dimension_count"};

void require_known_keys(const GgufMetadata& metadata, const std::string& prefix,
                        std::initializer_list<std::string_view> others) {
  for (const auto& key : metadata.keys()) {
    if (!key.starts_with(prefix)) continue;
    const auto name = std::string_view(key).substr(prefix.size());
    if (std::find(common_keys.begin(), common_keys.end(), name) == common_keys.end() &&
        std::find(others.begin(), others.end(), name) == others.end()) {
      throw BadInput(metadata.where(key), "asks for a part that is not computed here",
                     "choose a model without it");
    }
  }
}

double positive(const GgufMetadata& metadata, const std::string& key) {
  const double value = metadata.finite_number(key);
  if (!(value > 0.0)) {
    throw BadInput(metadata.where(key), "is not above 0", "convert the model again");
  }
  return value;
}

/// Refuses a key that is there and says anything but `only`.
void require_only(const GgufMetadata& metadata, const std::string& key, std::uint64_t only) {
  if (metadata.has(key) && metadata.whole_number(key, 0, UINT32_MAX) != only) {
    throw BadInput(metadata.where(key), "is not " + std::to_string(only),
                   "only heads of one size, rotated whole, are supported; choose another model");
  }
}

std::size_t vocabulary_size(const GgufFile& file) {
  const auto found = file.tensors().find("token_embd.weight");
  if (found == file.tensors().end() || found->second.shape.size() != 2 ||
      found->second.shape[0] > largest_vocabulary_size) {
    throw BadInput(file.metadata().file() + ", tensor \"token_embd.weight\"",
                   "is missing, no matrix, or of more than " +
                       std::to_string(largest_vocabulary_size) + " tokens",
                   "convert the model again, or choose another");
  }
  return found->second.shape[0];
}

std::vector<std::uint32_t> read_named_ends(const GgufMetadata& metadata,
                                           std::size_t vocabulary_size) {
  std::vector<std::uint32_t> ids;
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                          "tokenizer.ggml.eom_token_id"}) {
    if (metadata.has(key)) {
      ids.push_back(static_cast<std::uint32_t>(metadata.whole_number(key, 0, vocabulary_size - 1)));
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

DecoderConfig read_decoder_config(const JsonObject& json,
                                  std::initializer_list<std::string_view> others) {
  require_known_keys(json, common_json_keys, others);
  require_unquantised(json);
  require_text(json, "hidden_act", "silu");
  DecoderConfig config;
  config.vocab_size = json.whole_number("vocab_size", 1, largest_vocabulary_size);
  config.hidden_size = json.whole_number("hidden_size", 1, largest_width);
  config.intermediate_size = json.whole_number("intermediate_size", 1, largest_width);
  config.num_hidden_layers = json.whole_number("num_hidden_layers", 1, most_layers);
  config.num_attention_heads = json.whole_number("num_attention_heads", 1, most_heads);
  config.num_key_value_heads =
      json.whole_number("num_key_value_heads", 1, config.num_attention_heads);
  config.head_dim = json.has("head_dim") ? json.whole_number("head_dim", 1, largest_head)
                                         : config.hidden_size / config.num_attention_heads;
  config.max_position_embeddings =
      json.whole_number("max_position_embeddings", 1, largest_position);
  config.rms_norm_eps = json.positive_number("rms_norm_eps");
  config.tie_word_embeddings = json.boolean_or("tie_word_embeddings", false);
  require_consistent(config, json.where());
  config.eos_token_ids = read_named_ends(json, config.vocab_size);
  return config;
}

DecoderConfig read_decoder_config(const GgufFile& file,
                                  std::initializer_list<std::string_view> others) {
  const auto& metadata = file.metadata();
  const std::string prefix = std::string(metadata.text("general.architecture")) + ".";
  require_known_keys(metadata, prefix, others);
  const auto number = [&](const char* key, std::uint64_t greatest) {
    return metadata.whole_number(prefix + key, 1, greatest);
  };
  DecoderConfig config;
  config.vocab_size = vocabulary_size(file);
  config.hidden_size = number("embedding_length", largest_width);
  config.intermediate_size = number("feed_forward_length", largest_width);
  config.num_hidden_layers = number("block_count", most_layers);
  config.num_attention_heads = number("attention.head_count", most_heads);
  config.num_key_value_heads = metadata.has(prefix + "attention.head_count_kv")
                                   ? number("attention.head_count_kv", config.num_attention_heads)
                                   : config.num_attention_heads;
  config.head_dim = metadata.has(prefix + "attention.key_length")
                        ? number("attention.key_length", largest_head)
                        : config.hidden_size / config.num_attention_heads;
  require_only(metadata, prefix + "attention.value_length", config.head_dim);
  const std::string_view rotary = "rope.dimension_count";
  if (std::find(others.begin(), others.end(), rotary) == others.end()) {
    require_only(metadata, prefix + std::string(rotary), config.head_dim);
  }
  require_only(metadata, prefix + "vocab_size", config.vocab_size);
  config.max_position_embeddings = number("context_length", largest_position);
  config.rms_norm_eps = positive(metadata, prefix + "attention.layer_norm_rms_epsilon");
  if (metadata.has(prefix + "rope.freq_base")) {
    config.rope_theta = positive(metadata, prefix + "rope.freq_base");
  }
  config.tie_word_embeddings = !file.tensors().contains("output.weight");
  require_consistent(config, metadata.file());
  config.eos_token_ids = read_named_ends(metadata, config.vocab_size);
  return config;
}

std::vector<double> read_rope_factors(const GgufFile& file, const std::string& tensor,
                                      std::size_t head_dim) {
  const auto found = file.tensors().find(tensor);
  if (found == file.tensors().end()) return {};
  const std::array<std::uint64_t, 1> shape{head_dim / 2};
  require_shape(found->second, shape, "metadata");
  std::vector<double> factors;
  for (const float factor : read_vector(found->second)) {
    if (!(factor > 0.0F)) {
      throw BadInput(file.metadata().file() + ", tensor " + in_quotes(tensor),
                     "has a factor that is not above 0", "convert the model again");
    }
    factors.push_back(static_cast<double>(factor));
  }
  return factors;
}

void require_consistent(const DecoderConfig& config, const std::string& where) {
  if (config.num_key_value_heads == 0 ||
      config.num_attention_heads % config.num_key_value_heads != 0) {
    throw BadInput(where, "\"num_key_value_heads\" does not divide \"num_attention_heads\"",
                   "give a divisor");
  }
  if (config.head_dim == 0 || config.head_dim % 2 != 0) {
    throw BadInput(where, "\"head_dim\" is " + std::to_string(config.head_dim),
                   "rotary positions need an even number above 0");
  }
}

AttentionShape attention_shape(const DecoderConfig& config) {
  const std::size_t query = padded(config.num_attention_heads * config.head_dim);
  const std::size_t key_value = padded(config.num_key_value_heads * config.head_dim);
  return {config.num_attention_heads, config.num_key_value_heads, config.head_dim, query,
          query + key_value,          query + 2 * key_value};
}

}  // namespace tempera::gpu
