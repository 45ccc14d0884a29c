#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// Qwen2 and Qwen2.5 (Qwen Team 2024): the dense decoder with biases of queries, keys and values.
class Qwen2 final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{.model_type = "qwen2", .has_biases = true};
  static constexpr const char* model_type = traits.model_type;
  /// The defaults of Qwen2Config in transformers.
  static constexpr std::array defaults{
      DefaultValue{"head_dim", "null"},           DefaultValue{"hidden_act", "\"silu\""},
      DefaultValue{"layer_types", "null"},        DefaultValue{"max_position_embeddings", "32768"},
      DefaultValue{"max_window_layers", "28"},    DefaultValue{"num_key_value_heads", "32"},
      DefaultValue{"rms_norm_eps", "1e-6"},       DefaultValue{"rope_parameters", "null"},
      DefaultValue{"sliding_window", "4096"},     DefaultValue{"tie_word_embeddings", "false"},
      DefaultValue{"use_sliding_window", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Qwen2(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
