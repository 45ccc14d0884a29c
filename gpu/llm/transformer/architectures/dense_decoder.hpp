#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/llm/transformer/architectures/decoder.hpp"
#include "gpu/llm/transformer/architectures/experts.hpp"
#include "gpu/llm/transformer/kernels/variant_kernels.hpp"

namespace tempera::gpu {

/// What tells one family of dense decoders from another, beside its configuration.
struct DenseTraits {
  /// Where RMSNorms are: before each of a layer's two blocks, after it (before it is added), or
  /// both.
  enum class Norms : char { before, after, around };
  /// The function that the feed-forward's gate goes through.
  enum class Gate : char { silu, tanh_gelu };

  const char* model_type;  ///< of a config.json
  /// Whether queries, keys and values have biases.
  bool has_biases = false;
  /// Whether every head's query and key goes through an RMSNorm before it is rotated.
  bool has_head_norms = false;
  /// Whether queries, keys and values are one stored projection, and gate and up another.
  bool has_fused_projections = false;
  /// True if all queries of a token go through one RMSNorm, and all keys through another.
  bool has_projection_norms = false;
  /// True if the map of what the heads attended to has a bias.
  bool has_output_bias = false;
  /// True if every head has a logit that weighs in its softmax and has no value.
  bool has_sinks = false;
  Norms norms = Norms::before;
  Gate gate = Gate::silu;
};

/// Refuses a model that these kernels cannot compute; `where` names its configuration. Called
/// before any weight is read.
/// @throw BadInput
void require_kernels(const DenseTraits& traits, const DecoderConfig& config, const Kernels& kernels,
                     const std::string& where);

/// A dense decoder: token embedding; per layer grouped-query attention with rotary positions, then
/// a gated feed-forward, or experts in its place where norms are before the blocks, with RMSNorms
/// where its traits say, each added to the stream; final RMSNorm and head. Traits and configuration
/// of its family say what differs. The arithmetic is that of the kernels, whatever the dtype of the
/// weights.
class DenseDecoder : public Decoder {
 protected:
  /// @throw BadInput as `tensors` does, if the sizes of `config` do not fit together, and as
  /// require_kernels does
  DenseDecoder(const DenseTraits& traits, const DecoderConfig& config, TensorSource& tensors,
               const Kernels& kernels);

 private:
  struct Layer {
    DeviceMemory<float> input_norm;            // [hidden_size], of norms before the blocks
    PackedMatrix query_key_value;              // hidden_size -> heads · head_dim, three parts
    DeviceMemory<float> query_key_value_bias;  // [attention.row_floats], if there are biases
    DeviceMemory<float> query_norm;            // [head_dim], or of all queries; if there is one
    DeviceMemory<float> key_norm;              // [head_dim], or of all keys; if there is one
    DeviceMemory<float> sinks;                 // [heads], if there are some
    PackedMatrix attention_output;             // heads · head_dim -> hidden_size
    DeviceMemory<float> output_bias;           // [hidden_size], if there is one
    DeviceMemory<float> attended_norm;         // [hidden_size], of norms after the blocks
    DeviceMemory<float> post_attention_norm;   // [hidden_size], of norms before the blocks
    std::optional<Experts> experts;            // in the place of the next two
    PackedMatrix gate_up;                      // hidden_size -> intermediate_size, two parts
    PackedMatrix down;                         // intermediate_size -> hidden_size
    DeviceMemory<float> gated_norm;            // [hidden_size], of norms after the blocks
  };
  Layer read_layer(std::size_t index, TensorSource& tensors) const;
  DeviceMemory<float> read_norm(const std::string& name, std::size_t size, TensorSource& tensors,
                                double divisor = 1.0) const;
  void read_norms(const std::string& prefix, TensorSource& tensors, Layer& layer) const;
  PackedMatrix read_query_key_value(const std::string& prefix, TensorSource& tensors) const;
  PackedMatrix read_gate_up(const std::string& prefix, TensorSource& tensors) const;
  void run_layers(const TokenRows& batch, const PageMemory& memory, const Launch& launch) override;

  // The layers of a family that run_dense_layers does not have.
  void run_variant_layers(const VariantKernels& variants, const TokenRows& batch,
                          const PageMemory& memory, const Launch& launch);
  void attend(const VariantKernels& variants, const Layer& layer, std::size_t index,
              const TokenRows& batch, const PageMemory& memory, const Launch& launch);
  void feed_forward(const VariantKernels& variants, const Layer& layer, std::size_t rows,
                    const Launch& launch);
  void add_product(const VariantKernels& variants, const PackedMatrix& matrix, const float* bias,
                   const ProductInputs& inputs, const DeviceMemory<float>& norm, std::size_t rows,
                   const Launch& launch);

  const DenseTraits traits_;
  std::vector<Layer> layers_;
  RotaryAngles local_angles_;
  RotaryAngles no_angles_;

  // Kept between calls, for the rows of the largest launch so far.
  DeviceMemory<float> branch_;  // [rows, hidden_size], what a block adds
  DeviceMemory<float> wide_;    // [rows, outputs of gate_up]
  ExpertMemory of_experts_;
};

}  // namespace tempera::gpu
