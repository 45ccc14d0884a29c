#pragma once

#include <array>
#include <string_view>

#include "gpu/llm/transformer/architectures/dense_decoder.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// The number of experts of a config.json, under either of its names.
/// @throw BadInput naming file and key
std::size_t read_expert_number(const JsonObject& json);
/// Reads the experts of a config.json: `num_experts`, or `num_local_experts` as later versions of
/// transformers call it, `num_experts_per_tok` and `moe_intermediate_size`. All layers have them.
/// @throw BadInput naming file and key
ExpertsConfig read_experts(const JsonObject& json, std::size_t layers);
/// The same of a GGUF file, under llama.cpp's names.
ExpertsConfig read_experts(const GgufFile& file, const DecoderConfig& config);

/// Qwen3-MoE (Qwen Team 2025): Qwen3, with experts in all layers, or in some.
class Qwen3Moe final : public DenseDecoder {
 public:
  static constexpr DenseTraits traits{.model_type = "qwen3_moe", .has_head_norms = true};
  static constexpr const char* model_type = traits.model_type;
  static constexpr const char* gguf_architecture = "qwen3moe";
  /// The defaults of Qwen3MoeConfig in transformers.
  static constexpr std::array defaults{
      DefaultValue{"attention_bias", "false"},    DefaultValue{"decoder_sparse_step", "1"},
      DefaultValue{"hidden_act", "\"silu\""},     DefaultValue{"max_position_embeddings", "32768"},
      DefaultValue{"mlp_only_layers", "null"},    DefaultValue{"norm_topk_prob", "false"},
      DefaultValue{"num_experts_per_tok", "8"},   DefaultValue{"num_key_value_heads", "4"},
      DefaultValue{"rms_norm_eps", "1e-6"},       DefaultValue{"rope_parameters", "null"},
      DefaultValue{"sliding_window", "4096"},     DefaultValue{"tie_word_embeddings", "false"},
      DefaultValue{"use_sliding_window", "false"}};
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static DecoderConfig configuration(const JsonObject& json);
  /// That of a GGUF file, which has experts in all layers, and whose weights are divided by their
  /// sum.
  static DecoderConfig configuration(const GgufFile& file);
  /// Tensors of a GGUF file that the configuration reads.
  static constexpr std::array<std::string_view, 0> gguf_factors{};
  /// Whether a GGUF file has the rows of queries and keys as neighbours that rotate together.
  static constexpr bool gguf_pairs_neighbours = false;

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Qwen3Moe(const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

}  // namespace tempera::gpu
