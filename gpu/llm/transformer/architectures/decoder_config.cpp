#include "gpu/llm/transformer/architectures/decoder_config.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"

namespace tempera::gpu {

namespace {

/// What every architecture reads of a config.json, here or through model_config.hpp.
constexpr std::array<std::string_view, 20> common_json_keys{"head_dim",
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
                                                            "sliding_window",
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

/// Besides them, architectures with experts may say these; their names end so.
constexpr std::string_view end_with_experts = "moe.";
constexpr std::array<std::string_view, 5> keys_of_experts{
    "expert_count", "expert_feed_forward_length", "expert_shared_feed_forward_length",
    "expert_used_count", "expert_weights_norm"};

/// Keys that change no logits at any value, some of them because require_unscaled has passed.
constexpr std::array<std::string_view, 9> gguf_keys_of_no_logits{
    "pooling_type",
    "rope.scaling.factor",
    "rope.scaling.finetuned",
    "rope.scaling.original_context_length",
    "rope.scaling.type",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
    "rope.scaling.yarn_ext_factor",
    "rope.scaling.yarn_log_multiplier"};

/// A key that asks for nothing at two values (0 is false, 1 is true), and for another model at any
/// other.
struct NeutralKey {
  std::string_view name;
  double value;
  double other;
};
constexpr std::array neutral_gguf_keys{NeutralKey{"attention.causal", 1, 1},
                                       NeutralKey{"attention.clamp_kqv", 0, 0},
                                       NeutralKey{"attention.max_alibi_bias", 0, 0},
                                       NeutralKey{"attn_logit_softcapping", 0, 0},
                                       NeutralKey{"embedding_scale", 0, 1},
                                       NeutralKey{"expert_count", 0, 0},
                                       NeutralKey{"expert_feed_forward_length", 0, 0},
                                       NeutralKey{"expert_gating_func", 0, 1},
                                       NeutralKey{"expert_group_count", 0, 0},
                                       NeutralKey{"expert_group_used_count", 0, 0},
                                       NeutralKey{"expert_shared_count", 0, 0},
                                       NeutralKey{"expert_shared_feed_forward_length", 0, 0},
                                       NeutralKey{"expert_used_count", 0, 0},
                                       NeutralKey{"expert_weights_norm", 0, 0},
                                       NeutralKey{"expert_weights_scale", 0, 1},
                                       NeutralKey{"final_logit_softcapping", 0, 0},
                                       NeutralKey{"leading_dense_block_count", 0, 0},
                                       NeutralKey{"logit_scale", 0, 1},
                                       NeutralKey{"n_deepstack_layers", 0, 0},
                                       NeutralKey{"nextn_predict_layers", 0, 0},
                                       NeutralKey{"residual_scale", 0, 1},
                                       NeutralKey{"rope.scale_linear", 0, 1},
                                       NeutralKey{"rope.scaling.alpha", 0, 0},
                                       NeutralKey{"rope.scaling.attn_factor", 1, 1},
                                       NeutralKey{"rope.scaling.yarn_attn_factor", 1, 1},
                                       NeutralKey{"swin_norm", 0, 0},
                                       NeutralKey{"use_parallel_residual", 0, 0}};

template <class List>
bool is_among(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Refuses scaled rotary positions. As in llama.cpp, a missing type is "linear" and a factor of 0
/// is 1. `has_longrope`: whether the architecture computes longrope.
/// @throw BadInput naming file and key
void require_unscaled(const GgufMetadata& metadata, const std::string& prefix, bool has_longrope) {
  const std::string type_key = prefix + "rope.scaling.type";
  const std::string_view type = metadata.has(type_key) ? metadata.text(type_key) : "linear";
  const std::string remedy = "only unscaled rotary positions are supported; choose another model";
  constexpr std::array<std::string_view, 3> by_factor{"none", "linear", "yarn"};
  if (!is_among(by_factor, type) && !(has_longrope && type == "longrope"))
    throw BadInput(metadata.where(type_key), "is " + in_quotes(type), remedy);
  const std::string factor_key = prefix + "rope.scaling.factor";
  if (type == "none" || !metadata.has(factor_key)) return;
  const auto factor = metadata.scalar(factor_key);
  if (!factor || (*factor != 0.0 && *factor != 1.0))
    throw BadInput(metadata.where(factor_key), "is not 1", remedy);
}

/// Refuses a scale of scores other than the float32 nearest to 1 / sqrt(head_dim); 0 means that
/// scale, too.
void require_usual_scale(const GgufMetadata& metadata, const std::string& key,
                         std::size_t head_dim) {
  if (!metadata.has(key)) return;
  const auto scale = metadata.scalar(key);
  const float usual = 1.0F / std::sqrt(static_cast<float>(head_dim));
  if (!scale || (*scale != 0.0 && static_cast<float>(*scale) != usual)) {
    throw BadInput(metadata.where(key), "is not 1 / sqrt(" + std::to_string(head_dim) + ")",
                   "choose a model without it");
  }
}

void require_known_keys(const GgufMetadata& metadata, const std::string& prefix,
                        std::initializer_list<std::string_view> others) {
  constexpr std::array<std::string_view, 2> read_below{"attention.scale",
                                                       "attention.sliding_window"};
  for (const auto& key : metadata.keys()) {
    if (!key.starts_with(prefix)) continue;
    const auto name = std::string_view(key).substr(prefix.size());
    if (is_among(common_keys, name) || is_among(others, name) ||
        is_among(gguf_keys_of_no_logits, name) || is_among(read_below, name) ||
        (prefix.ends_with(end_with_experts) && is_among(keys_of_experts, name)))
      continue;
    const auto* const neutral =
        std::find_if(neutral_gguf_keys.begin(), neutral_gguf_keys.end(),
                     [&](const NeutralKey& each) { return each.name == name; });
    if (neutral != neutral_gguf_keys.end()) {
      const auto value = metadata.scalar(key);
      if (value == neutral->value || value == neutral->other) continue;
    }
    throw BadInput(metadata.where(key), "asks for a part that is not computed here",
                   "choose a model without it");
  }
}

/// Refuses a file that holds an adapter, a model of images, or only a vocabulary.
void require_model(const GgufMetadata& metadata) {
  const std::string key = "general.type";
  if (!metadata.has(key) || metadata.text(key) == "model") return;
  throw BadInput(metadata.where(key), "is " + in_quotes(metadata.text(key)),
                 "give the file of a whole model");
}

/// Reads a number that all layers share: one number, or an array that repeats it for each layer.
std::uint64_t number_of_layers(const GgufMetadata& metadata, const std::string& key,
                               std::uint64_t greatest, std::size_t layers) {
  if (!metadata.is_array(key)) return metadata.whole_number(key, 1, greatest);
  const auto numbers = metadata.whole_numbers(key, 1, greatest);
  const bool are_equal = std::all_of(numbers.begin(), numbers.end(),
                                     [&](std::uint64_t each) { return each == numbers[0]; });
  if (numbers.size() != layers || !are_equal) {
    throw BadInput(metadata.where(key),
                   "is not one number, or " + std::to_string(layers) + " that are equal",
                   "only layers of one size are supported; choose another model");
  }
  return numbers[0];
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

/// Refuses values of another size than keys. As in llama.cpp, a missing size is the width divided
/// by the number of heads.
void require_value_length(const GgufMetadata& metadata, const std::string& key,
                          const DecoderConfig& config) {
  if (!metadata.has(key) && config.head_dim != config.hidden_size / config.num_attention_heads) {
    throw BadInput(metadata.where(key),
                   "is missing, and keys of " + std::to_string(config.head_dim) +
                       " are not equal shares of the width",
                   "convert the model again, with a newer converter");
  }
  require_only(metadata, key, config.head_dim);
}

/// The rows of the embedding. others_for_images: how many may be beyond those that have logits.
std::size_t vocabulary_size(const GgufFile& file, std::uint64_t others_for_images) {
  const auto found = file.tensors().find("token_embd.weight");
  if (found == file.tensors().end() || found->second.shape.size() != 2 ||
      found->second.shape[0] > largest_vocabulary_size + others_for_images) {
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
                                  std::initializer_list<std::string_view> others,
                                  const NamedActivation& activation) {
  require_known_keys(json, common_json_keys, others);
  // "swish" is another name of silu.
  if (json.text(activation.key) != "swish" || std::string_view(activation.only) != "silu")
    require_text(json, activation.key, activation.only);
  DecoderConfig config;
  config.vocab_size = json.whole_number("vocab_size", 1, largest_vocabulary_size);
  config.hidden_size = json.whole_number("hidden_size", 1, largest_width);
  config.intermediate_size = json.whole_number("intermediate_size", 1, largest_width);
  config.num_hidden_layers = json.whole_number("num_hidden_layers", 1, most_layers);
  config.num_attention_heads = json.whole_number("num_attention_heads", 1, most_heads);
  config.num_key_value_heads =
      json.has("num_key_value_heads")
          ? json.whole_number("num_key_value_heads", 1, config.num_attention_heads)
          : config.num_attention_heads;
  config.head_dim = json.has("head_dim") ? json.whole_number("head_dim", 1, largest_head)
                                         : config.hidden_size / config.num_attention_heads;
  config.max_position_embeddings =
      json.whole_number("max_position_embeddings", 1, largest_position);
  config.rms_norm_eps = json.positive_number("rms_norm_eps");
  config.tie_word_embeddings = json.boolean_or("tie_word_embeddings", false);
  require_consistent(config, json.where());
  config.eos_token_ids = read_named_ends(json, config.vocab_size);
  config.quantisation = read_quantisation(json);
  return config;
}

std::string key_of(const GgufMetadata& metadata, std::string_view name) {
  return std::string(metadata.text("general.architecture")) + "." + std::string(name);
}

DecoderConfig read_decoder_config(const GgufFile& file,
                                  std::initializer_list<std::string_view> others) {
  const auto& metadata = file.metadata();
  const std::string prefix = key_of(metadata, "");
  require_model(metadata);
  require_known_keys(metadata, prefix, others);
  const bool has_longrope = is_among(others, "rope.scaling.attn_factor");
  if (!is_among(others, "rope.scaling.factor")) require_unscaled(metadata, prefix, has_longrope);
  const auto number = [&](const char* key, std::uint64_t greatest) {
    return metadata.whole_number(prefix + key, 1, greatest);
  };
  DecoderConfig config;
  const std::size_t stored = vocabulary_size(file, prefix == "gemma3." ? most_tokens_of_images : 0);
  leave_out_tokens_of_images(config, stored);
  config.hidden_size = number("embedding_length", largest_width);
  config.num_hidden_layers = number("block_count", most_layers);
  const auto of_layers = [&](const char* key, std::uint64_t greatest) {
    return number_of_layers(metadata, prefix + key, greatest, config.num_hidden_layers);
  };
  // Where no layer is dense, the size of such a one need not be said.
  const char* const inner = "feed_forward_length";
  const bool is_said = metadata.has(prefix + inner) || !prefix.ends_with(end_with_experts);
  config.intermediate_size =
      of_layers(is_said ? inner : "expert_feed_forward_length", largest_width);
  config.num_attention_heads = of_layers("attention.head_count", most_heads);
  config.num_key_value_heads =
      metadata.has(prefix + "attention.head_count_kv")
          ? of_layers("attention.head_count_kv", config.num_attention_heads)
          : config.num_attention_heads;
  config.head_dim = metadata.has(prefix + "attention.key_length")
                        ? number("attention.key_length", largest_head)
                        : config.hidden_size / config.num_attention_heads;
  require_value_length(metadata, prefix + "attention.value_length", config);
  const std::string rotary = "rope.dimension_count";
  if (!is_among(others, rotary)) require_only(metadata, prefix + rotary, config.head_dim);
  if (!is_among(others, "attention.scale"))
    require_usual_scale(metadata, prefix + "attention.scale", config.head_dim);
  require_only(metadata, prefix + "vocab_size", stored);
  config.max_position_embeddings = number("context_length", largest_position);
  // Longrope may shorten the longest text yet.
  if (!has_longrope && !is_among(others, "attention.sliding_window"))
    require_full_attention(metadata, config.max_position_embeddings);
  config.rms_norm_eps = positive(metadata, prefix + "attention.layer_norm_rms_epsilon");
  config.rope_theta = metadata.has(prefix + "rope.freq_base")
                          ? positive(metadata, prefix + "rope.freq_base")
                          : default_rope_theta;
  config.tie_word_embeddings = !file.tensors().contains("output.weight");
  require_consistent(config, metadata.file());
  config.eos_token_ids = read_named_ends(metadata, config.vocab_size);
  return config;
}

void require_full_attention(const GgufMetadata& metadata, std::size_t longest) {
  const std::string key = key_of(metadata, "attention.sliding_window");
  if (!metadata.has(key)) return;
  const auto window = metadata.whole_number(key, 0, UINT32_MAX);
  if (window == 0 || window >= longest) return;
  throw BadInput(metadata.where(key),
                 "is " + std::to_string(window) + ", shorter than the longest text of " +
                     std::to_string(longest) + " tokens",
                 "only full attention is supported; choose a model without sliding windows");
}

void set_windows(DecoderConfig& config, const std::vector<bool>& sliding, std::size_t window,
                 LayerAttention::Rotation of_sliding) {
  if (window >= config.max_position_embeddings) window = 0;
  if (window == 0 && of_sliding == LayerAttention::Rotation::usual) return;
  if (std::find(sliding.begin(), sliding.end(), true) == sliding.end()) return;
  config.layer_attention.resize(config.num_hidden_layers);
  for (std::size_t layer = 0; layer < sliding.size(); ++layer)
    if (sliding[layer]) config.layer_attention[layer] = {window, of_sliding};
}

std::vector<bool> all_but_every(std::size_t period, std::size_t layers) {
  std::vector<bool> result;
  for (std::size_t layer = 0; layer < layers; ++layer)
    result.push_back(period != 0 && (layer + 1) % period != 0);
  return result;
}

std::vector<bool> read_sliding_layers(const GgufMetadata& metadata, std::size_t layers,
                                      std::size_t period) {
  const std::string key = key_of(metadata, "attention.sliding_window_pattern");
  if (!metadata.has(key)) return all_but_every(period, layers);
  if (!metadata.is_array(key))
    return all_but_every(metadata.whole_number(key, 1, most_layers), layers);
  auto sliding = metadata.booleans(key);
  if (sliding.size() != layers) {
    throw BadInput(metadata.where(key),
                   "has " + std::to_string(sliding.size()) + " truth values for " +
                       std::to_string(layers) + " layers",
                   "convert the model again");
  }
  return sliding;
}

void leave_out_tokens_of_images(DecoderConfig& config, std::size_t stored) {
  config.vocab_size = std::min<std::size_t>(stored, largest_vocabulary_size);
  if (stored == config.vocab_size) return;
  config.stored_vocabulary = stored;
  config.remark = "the first " + std::to_string(config.vocab_size) +
                  " tokens alone: those after them stand for images or for nothing";
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
  return {config.num_attention_heads, config.num_key_value_heads, config.head_dim,  query,
          query + key_value,          query + 2 * key_value,      config.rotary_dim};
}

}  // namespace tempera::gpu
