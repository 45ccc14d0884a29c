#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// SmolLM3 (Bakouch et al. 2025): the dense decoder, whose queries and keys are not rotated in
/// every fourth layer.
class SmolLM3 final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{"smollm3"};
  static constexpr const char* model_type = traits.model_type;
  /// The defaults of SmolLM3Config in transformers.
  static constexpr std::array defaults{
      DefaultValue{"attention_bias", "false"},    DefaultValue{"hidden_act", "\"silu\""},
      DefaultValue{"layer_types", "null"},        DefaultValue{"max_position_embeddings", "32768"},
      DefaultValue{"mlp_bias", "false"},          DefaultValue{"no_rope_layer_interval", "4"},
      DefaultValue{"no_rope_layers", "null"},     DefaultValue{"num_key_value_heads", "4"},
      DefaultValue{"rms_norm_eps", "1e-6"},       DefaultValue{"rope_parameters", "null"},
      DefaultValue{"sliding_window", "null"},     DefaultValue{"tie_word_embeddings", "true"},
      DefaultValue{"use_sliding_window", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = true;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  SmolLM3(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
