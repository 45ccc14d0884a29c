#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// OLMo 2 (OLMo Team 2025): norms after both blocks, none before them, and one norm of all queries
/// of a token and one of its keys. A GGUF file of OLMo 3 has the same name.
class Olmo2 final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{
      .model_type = "olmo2", .has_projection_norms = true, .norms = DenseTraits::Norms::after};
  static constexpr const char* model_type = traits.model_type;
  /// The defaults of Olmo2Config in transformers.
  static constexpr std::array defaults{DefaultValue{"attention_bias", "false"},
                                       DefaultValue{"hidden_act", "\"silu\""},
                                       DefaultValue{"max_position_embeddings", "2048"},
                                       DefaultValue{"num_key_value_heads", "null"},
                                       DefaultValue{"rms_norm_eps", "1e-5"},
                                       DefaultValue{"rope_parameters", "null"},
                                       DefaultValue{"tie_word_embeddings", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Olmo2(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

/// OLMo 3 (OLMo Team 2025): the same; three of four layers see a window, and their rotary positions
/// are not scaled.
class Olmo3 final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{
      .model_type = "olmo3", .has_projection_norms = true, .norms = DenseTraits::Norms::after};
  static constexpr const char* model_type = traits.model_type;
  static constexpr const char* gguf_architecture = nullptr;
  /// The defaults of Olmo3Config in transformers.
  static constexpr std::array defaults{
      DefaultValue{"attention_bias", "false"},     DefaultValue{"hidden_act", "\"silu\""},
      DefaultValue{"layer_types", "null"},         DefaultValue{"max_position_embeddings", "2048"},
      DefaultValue{"num_key_value_heads", "null"}, DefaultValue{"rms_norm_eps", "1e-5"},
      DefaultValue{"rope_parameters", "null"},     DefaultValue{"sliding_window", "4096"},
      DefaultValue{"tie_word_embeddings", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Olmo3(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
