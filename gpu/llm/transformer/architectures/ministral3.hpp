#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// Ministral 3 (Mistral AI 2025): Mistral with YaRN, whose queries grow with the logarithm of their
/// position from `original_max_position_embeddings` on. Up to there the factor is 1: texts of that
/// length are computed, and longer ones refused.
class Ministral3 final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{"ministral3"};
  static constexpr const char* model_type = traits.model_type;
  /// The model_type of a folder that sees images too, and holds this as its text model.
  static constexpr const char* outer_model_type = "mistral3";
  /// The defaults of Ministral3Config in transformers.
  static constexpr std::array defaults{DefaultValue{"head_dim", "128"},
                                       DefaultValue{"hidden_act", "\"silu\""},
                                       DefaultValue{"max_position_embeddings", "262144"},
                                       DefaultValue{"num_key_value_heads", "8"},
                                       DefaultValue{"rms_norm_eps", "1e-5"},
                                       DefaultValue{"sliding_window", "null"},
                                       DefaultValue{"tie_word_embeddings", "false"}};
  /// json: the configuration of the text model.
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  /// json: that of a folder that sees images too; the text model's is in its `text_config`.
  static DecoderConfig outer_configuration(const JsonObject& json);

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Ministral3(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
