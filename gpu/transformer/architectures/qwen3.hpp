#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/transformer/architectures/decoder.hpp"

namespace tempera::gpu {

using Qwen3Config = DecoderConfig;

/// Qwen3 (Qwen Team 2025), the dense decoder: token embedding; per layer grouped-query attention
/// with RMSNorm on every head's query and key and rotary positions, then SwiGLU, each after an
/// RMSNorm and added to the stream; final RMSNorm and head. The arithmetic is that of the kernels,
/// whatever the dtype of the weights.
class Qwen3 final : public Decoder {
 public:
  static constexpr const char* model_type = "qwen3";
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Qwen3(const Qwen3Config& config, TensorSource& tensors, const Kernels& kernels);

 private:
  struct Layer {
    DeviceMemory<float> input_norm;           // [hidden_size]
    PackedMatrix query_key_value;             // hidden_size -> heads · head_dim, three parts
    DeviceMemory<float> query_norm;           // [head_dim]
    DeviceMemory<float> key_norm;             // [head_dim]
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
