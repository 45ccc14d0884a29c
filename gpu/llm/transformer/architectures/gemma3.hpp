#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// The text models of Gemma 3 (Gemma Team 2025): norms around both blocks and of every head's query
/// and key, all with 1 + their stored weight; five of six layers see a window and have rotary
/// frequencies of their own; the gate goes through GELU; embeddings are scaled by
/// sqrt(hidden_size).
class Gemma3 final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{.model_type = "gemma3_text",
                                      .has_head_norms = true,
                                      .norms = DenseTraits::Norms::around,
                                      .gate = DenseTraits::Gate::tanh_gelu};
  static constexpr const char* model_type = traits.model_type;
  /// The model_type of a folder that sees images too, of which this is the text model.
  static constexpr const char* outer_model_type = "gemma3";
  static constexpr const char* gguf_architecture = "gemma3";
  /// The remark on a folder that holds more than the text model.
  static constexpr const char* text_alone = "the text model alone: images are not seen";

  /// The defaults of Gemma3TextConfig in transformers.
  static constexpr std::array defaults{DefaultValue{"attention_bias", "false"},
                                       DefaultValue{"attn_logit_softcapping", "null"},
                                       DefaultValue{"final_logit_softcapping", "null"},
                                       DefaultValue{"head_dim", "256"},
                                       DefaultValue{"hidden_activation", "\"gelu_pytorch_tanh\""},
                                       DefaultValue{"hidden_size", "2304"},
                                       DefaultValue{"intermediate_size", "9216"},
                                       DefaultValue{"layer_types", "null"},
                                       DefaultValue{"max_position_embeddings", "131072"},
                                       DefaultValue{"num_attention_heads", "8"},
                                       DefaultValue{"num_hidden_layers", "26"},
                                       DefaultValue{"num_key_value_heads", "4"},
                                       DefaultValue{"query_pre_attn_scalar", "256"},
                                       DefaultValue{"rms_norm_eps", "1e-6"},
                                       DefaultValue{"rope_parameters", "null"},
                                       DefaultValue{"sliding_window", "4096"},
                                       DefaultValue{"tie_word_embeddings", "true"},
                                       DefaultValue{"use_bidirectional_attention", "false"},
                                       DefaultValue{"vocab_size", "262208"}};
  /// json: the configuration of the text model.
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  /// json: that of a folder that sees images too; the text model's is in its `text_config`.
  static DecoderConfig outer_configuration(const JsonObject& json);
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Gemma3(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
