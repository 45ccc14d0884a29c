#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// The shape of a decoder of the Qwen3 architecture, named as in Hugging Face's config.json.
struct TransformerConfig {
  std::size_t vocab_size = 0;
  std::size_t hidden_size = 0;
  std::size_t intermediate_size = 0;
  std::size_t num_hidden_layers = 0;
  std::size_t num_attention_heads = 0;
  std::size_t num_key_value_heads = 0;
  std::size_t head_dim = 0;
  std::size_t max_position_embeddings = 0;
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000.0;
  bool tie_word_embeddings = false;
  /// The tokens that end a text: `eos_token_id` of generation_config.json where it names any, else
  /// that of config.json. Ascending, without repetition; may be empty.
  std::vector<std::uint32_t> eos_token_ids;

  /// Length of the queries of one token, all heads.
  std::size_t query_size() const { return num_attention_heads * head_dim; }
  /// Length of the keys (or values) of one token, all heads.
  std::size_t key_value_size() const { return num_key_value_heads * head_dim; }
};

/// The configuration that the text of a config.json describes; `where` names it in errors.
///
/// Throws BadInput, naming file, key and remedy, for whatever is missing, out of range or would
/// need arithmetic that this architecture does not have: another model_type or activation, a
/// sliding window in use, scaled rotary positions, attention biases, quantised weights.
TransformerConfig parse_transformer_config(std::string_view text, const std::string& where);

/// Reads `folder`/config.json and, where it is there, `folder`/generation_config.json; BadInput as
/// above.
TransformerConfig read_transformer_config(const std::filesystem::path& folder);

/// Throws BadInput naming `where` unless the sizes fit together: the key/value heads divide the
/// heads and head_dim is even.
void require_consistent(const TransformerConfig& config, const std::string& where);

}  // namespace tempera::gpu
