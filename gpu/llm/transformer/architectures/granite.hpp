#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// Granite (IBM 2024): the dense decoder, with a factor for the embeddings, for the scores, for
/// what each block adds, and a divisor of the logits.
class Granite final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{"granite"};
  static constexpr const char* model_type = traits.model_type;
  /// The defaults of GraniteConfig in transformers.
  static constexpr std::array defaults{
      DefaultValue{"attention_bias", "false"},     DefaultValue{"attention_multiplier", "1.0"},
      DefaultValue{"embedding_multiplier", "1.0"}, DefaultValue{"hidden_act", "\"silu\""},
      DefaultValue{"logits_scaling", "1.0"},       DefaultValue{"max_position_embeddings", "2048"},
      DefaultValue{"mlp_bias", "false"},           DefaultValue{"num_key_value_heads", "null"},
      DefaultValue{"residual_multiplier", "1.0"},  DefaultValue{"rms_norm_eps", "1e-6"},
      DefaultValue{"rope_parameters", "null"},     DefaultValue{"tie_word_embeddings", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = true;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Granite(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
