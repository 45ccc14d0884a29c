#pragma once

#include <array>
#include <string_view>

#include "gpu/transformer/architectures/dense_decoder.hpp"

namespace tempera::gpu {

/// Qwen3 (Qwen Team 2025): the dense decoder with RMSNorm on every head's query and key.
class Qwen3 final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{.model_type = "qwen3", .has_head_norms = true};
  static constexpr const char* model_type = traits.model_type;
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Qwen3(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
