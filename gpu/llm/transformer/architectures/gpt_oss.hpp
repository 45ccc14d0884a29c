#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// gpt-oss (OpenAI 2025): experts in all layers, with biases and clamped gates; attention with
/// sinks, a window in every second layer, YaRN and biases.
class GptOss final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{
      .model_type = "gpt_oss", .has_biases = true, .has_output_bias = true, .has_sinks = true};
  static constexpr const char* model_type = traits.model_type;
  static constexpr const char* gguf_architecture = "gpt-oss";
  /// The defaults of GptOssConfig in transformers.
  static constexpr std::array defaults{DefaultValue{"attention_bias", "true"},
                                       DefaultValue{"head_dim", "64"},
                                       DefaultValue{"hidden_act", "\"silu\""},
                                       DefaultValue{"layer_types", "null"},
                                       DefaultValue{"num_experts_per_tok", "4"},
                                       DefaultValue{"max_position_embeddings", "131072"},
                                       DefaultValue{"num_key_value_heads", "8"},
                                       DefaultValue{"rms_norm_eps", "1e-5"},
                                       DefaultValue{"rope_parameters", "null"},
                                       DefaultValue{"sliding_window", "128"},
                                       DefaultValue{"swiglu_alpha", "1.702"},
                                       DefaultValue{"swiglu_limit", "7.0"},
                                       DefaultValue{"tie_word_embeddings", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  /// That of a GGUF file. As in llama.cpp, YaRN's ramp ends at whole indices, and gates are clamped
  /// as in the published models.
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// True if a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;
  /// True if a folder has rows of gate and up in turn in one tensor for all experts of a layer.
  static constexpr bool interleaves_experts = true;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  GptOss(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
