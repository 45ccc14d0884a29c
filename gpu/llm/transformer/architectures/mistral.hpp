#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// Refuses types of layers, which a family has none of. @throw BadInput
void require_no_layer_types(const JsonObject& json);

/// Mistral (Jiang et al. 2023): the dense decoder, whose layers all see a window, if there is one.
/// A GGUF file of it is one of `llama`.
class Mistral final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{"mistral"};
  static constexpr const char* model_type = traits.model_type;
  static constexpr const char* gguf_architecture = nullptr;
  /// The defaults of MistralConfig in transformers.
  static constexpr std::array defaults{DefaultValue{"head_dim", "null"},
                                       DefaultValue{"hidden_act", "\"silu\""},
                                       DefaultValue{"max_position_embeddings", "131072"},
                                       DefaultValue{"num_key_value_heads", "8"},
                                       DefaultValue{"rms_norm_eps", "1e-6"},
                                       DefaultValue{"rope_parameters", "null"},
                                       DefaultValue{"sliding_window", "4096"},
                                       DefaultValue{"tie_word_embeddings", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// True if a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Mistral(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

/// Ministral (Mistral AI 2024): the same, with a window in those layers alone that slide.
class Ministral final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{"ministral"};
  static constexpr const char* model_type = traits.model_type;
  static constexpr const char* gguf_architecture = nullptr;
  /// The defaults of MinistralConfig in transformers.
  static constexpr std::array defaults{DefaultValue{"head_dim", "null"},
                                       DefaultValue{"hidden_act", "\"silu\""},
                                       DefaultValue{"layer_types", "null"},
                                       DefaultValue{"max_position_embeddings", "131072"},
                                       DefaultValue{"num_key_value_heads", "8"},
                                       DefaultValue{"rms_norm_eps", "1e-6"},
                                       DefaultValue{"rope_parameters", "null"},
                                       DefaultValue{"sliding_window", "4096"},
                                       DefaultValue{"tie_word_embeddings", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// True if a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Ministral(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
