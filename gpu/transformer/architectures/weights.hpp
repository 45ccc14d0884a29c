#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/device/device_memory.hpp"
#include "gpu/transformer/architectures/transformer_config.hpp"
#include "gpu/transformer/weights/packed_matrix.hpp"
#include "gpu/transformer/weights/safetensors.hpp"

namespace tempera::gpu {

/// One decoder layer's weights in device memory.
struct LayerWeights {
  DeviceMemory<float> input_norm;           // [hidden_size]
  DeviceMemory<float> query_norm;           // [head_dim]
  DeviceMemory<float> key_norm;             // [head_dim]
  DeviceMemory<float> post_attention_norm;  // [hidden_size]
  PackedMatrix query_key_value;             // three padded parts, hidden_size -> heads · head_dim
  PackedMatrix attention_output;            // query_size -> hidden_size
  PackedMatrix gate_up;                     // two padded parts, hidden_size -> intermediate_size
  PackedMatrix down;                        // intermediate_size -> hidden_size
};

/// All weights of a transformer in device memory.
struct TransformerWeights {
  PackedMatrix embedding;  // vocab_size outputs over hidden_size inputs
  std::vector<LayerWeights> layers;
  DeviceMemory<float> final_norm;    // [hidden_size]
  std::optional<PackedMatrix> head;  // absent where it is tied to the embedding

  const PackedMatrix& output_head() const { return head ? *head : embedding; }
};

/// The weights of a checkpoint in Hugging Face's naming; BadInput for a tensor that is missing, has
/// the wrong shape or dtype, holds NaN or infinity, or that this architecture would not use (its
/// effect would silently be lost).
TransformerWeights load_weights(const TransformerConfig& config, const Checkpoint& checkpoint);

/// Weights drawn from integers alone: the same bits everywhere for the same config and seed. Matrix
/// elements are uniform on a grid with a variance of one to four thirds of 1 / inputs, norm weights
/// uniform in (1/2, 3/2).
TransformerWeights random_weights(const TransformerConfig& config, std::uint64_t seed);

}  // namespace tempera::gpu
