#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// Phi-3, Phi-3.5-mini (Abdin et al. 2024) and Phi-4-mini (2025), whose heads rotate in part: the
/// dense decoder with fused projections. Longrope has two sets of factors; a run has one
/// (RopeFactors).
class Phi3 final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{.model_type = "phi3", .has_fused_projections = true};
  static constexpr const char* model_type = traits.model_type;
  /// The defaults of Phi3Config in transformers.
  static constexpr std::array defaults{DefaultValue{"head_dim", "null"},
                                       DefaultValue{"hidden_act", "\"silu\""},
                                       DefaultValue{"max_position_embeddings", "4096"},
                                       DefaultValue{"num_key_value_heads", "null"},
                                       DefaultValue{"original_max_position_embeddings", "4096"},
                                       DefaultValue{"rms_norm_eps", "1e-5"},
                                       DefaultValue{"rope_parameters", "null"},
                                       DefaultValue{"sliding_window", "null"},
                                       DefaultValue{"tie_word_embeddings", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json,
                                     RopeFactors factors = RopeFactors::of_short_texts);
  static DecoderConfig configuration(const GgufFile& file,
                                     RopeFactors factors = RopeFactors::of_short_texts);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 2> gguf_factors{"rope_factors_short.weight",
                                                                "rope_factors_long.weight"};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Phi3(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
