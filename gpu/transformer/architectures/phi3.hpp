#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/transformer/architectures/decoder.hpp"

namespace tempera::gpu {

/// Phi-3 and Phi-3.5-mini (Abdin et al. 2024): token embedding; per layer attention with rotary
/// positions, then SwiGLU, each after an RMSNorm and added to the stream; final RMSNorm and head.
/// Queries, keys and values are one stored projection, gate and up another.
/// Longrope has two sets of factors; a run has one (RopeFactors).
class Phi3 final : public Decoder {
 public:
  static constexpr const char* model_type = "phi3";
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
  Phi3(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels);

 private:
  struct Layer {
    DeviceMemory<float> input_norm;           // [hidden_size]
    PackedMatrix query_key_value;             // hidden_size -> heads · head_dim, three parts
    PackedMatrix attention_output;            // heads · head_dim -> hidden_size
    DeviceMemory<float> post_attention_norm;  // [hidden_size]
    PackedMatrix gate_up;                     // hidden_size -> intermediate_size, two parts
    PackedMatrix down;                        // intermediate_size -> hidden_size
  };
  Layer read_layer(const std::string& prefix, TensorSource& tensors) const;
  void run_layers(const TokenRows& batch, const PageMemory& memory, const Launch& launch) override;

  std::vector<Layer> layers_;
};

}  // namespace tempera::gpu
