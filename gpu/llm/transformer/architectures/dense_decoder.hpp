#pragma once

#include <string>
#include <vector>

#include "gpu/llm/transformer/architectures/decoder.hpp"

namespace tempera::gpu {

/// What tells one family of dense decoders from another, beside its configuration.
struct DenseTraits {
  const char* model_type;  ///< of a config.json, and of a GGUF file
  /// Whether queries, keys and values have biases.
  bool has_biases = false;
  /// Whether every head's query and key goes through an RMSNorm before it is rotated.
  bool has_head_norms = false;
  /// Whether queries, keys and values are one stored projection, and gate and up another.
  bool has_fused_projections = false;
};

/// A dense decoder: token embedding; per layer grouped-query attention with rotary positions, then
/// SwiGLU, each after an RMSNorm and added to the stream; final RMSNorm and head. The traits of its
/// family say what differs. The arithmetic is that of the kernels, whatever the dtype of the
/// weights.
class DenseDecoder : public Decoder {
 protected:
  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together
  DenseDecoder(const DenseTraits& traits, const DecoderConfig& config, TensorSource& tensors,
               const Kernels& kernels);

 private:
  struct Layer {
    DeviceMemory<float> input_norm;            // [hidden_size]
    PackedMatrix query_key_value;              // hidden_size -> heads · head_dim, three parts
    DeviceMemory<float> query_key_value_bias;  // [attention.row_floats], if there are biases
    DeviceMemory<float> query_norm;            // [head_dim], if heads have norms
    DeviceMemory<float> key_norm;              // [head_dim], if heads have norms
    PackedMatrix attention_output;             // heads · head_dim -> hidden_size
    DeviceMemory<float> post_attention_norm;   // [hidden_size]
    PackedMatrix gate_up;                      // hidden_size -> intermediate_size, two parts
    PackedMatrix down;                         // intermediate_size -> hidden_size
  };
  Layer read_layer(const std::string& prefix, TensorSource& tensors) const;
  PackedMatrix read_query_key_value(const std::string& prefix, TensorSource& tensors) const;
  PackedMatrix read_gate_up(const std::string& prefix, TensorSource& tensors) const;
  void run_layers(const TokenRows& batch, const PageMemory& memory, const Launch& launch) override;

  const DenseTraits traits_;
  std::vector<Layer> layers_;
};

}  // namespace tempera::gpu
