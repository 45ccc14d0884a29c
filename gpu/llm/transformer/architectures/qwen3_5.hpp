#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "gpu/llm/transformer/architectures/decoder.hpp"
#include "gpu/llm/transformer/architectures/experts.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"
#include "gpu/llm/transformer/cache/state_shape.hpp"
#include "gpu/llm/transformer/weights/gguf_tensors.hpp"

namespace tempera::gpu {

/// The shape of a Qwen3.5 text model, named as in Hugging Face's config.json.
struct Qwen3_5Config : DecoderConfig {
  /// For each layer whether it attends; else it is recurrent.
  std::vector<bool> full_attention;
  std::size_t linear_num_key_heads = 0;
  std::size_t linear_num_value_heads = 0;
  std::size_t linear_key_head_dim = 0;
  std::size_t linear_value_head_dim = 0;
  std::size_t linear_conv_kernel_dim = 0;
  /// The layers of a GGUF file, and after them what predicts several tokens.
  std::size_t num_blocks = 0;
  /// Whether the tensors hold what is multiplied with, as llama.cpp's files do: 1 + w for a norm's
  /// w, and -exp(A_log) for A_log.
  bool stores_factors = false;
  /// The layers whose out_proj has its inputs in the order of TiledHeads.
  std::set<std::size_t> tiled_outputs;
};

/// What has no place in the sizes alone: heads that share keys evenly, a head that gated attention
/// can compute, a type for every layer and a recurrent one among them.
/// @throw BadInput naming `where`
void require_gated_delta_net(const Qwen3_5Config& config, const std::string& where);

/// Qwen3.5 (Qwen Team 2026), the text model: three of four layers are a gated DeltaNet (Yang
/// et al. 2024), the fourth is grouped-query attention with RMSNorm on every head's query and key,
/// rotary positions on a part of each head, and a sigmoid gate on what was attended; SwiGLU after
/// each, or experts with one that all tokens share. Every RMSNorm but the DeltaNet's own has 1 +
/// its stored weight.
///
/// A DeltaNet layer, for one token: queries, keys and values are a linear map, each channel of it a
/// causal convolution over the last few tokens and then silu; queries and keys are normalised. A
/// memory S for each value head decays, learns value under key as far as it does not know it, and
/// answers the query; RMSNorm, a silu gate and a linear map bring the answer back to the stream.
/// S and the convolution's last inputs are the recurrent state.
class Qwen3_5 final : public Decoder {
 public:
  static constexpr const char* model_type = "qwen3_5_text";
  /// The model_type of a folder that sees images too, of which this is the text model.
  static constexpr const char* outer_model_type = "qwen3_5";
  /// The same of models with experts.
  static constexpr const char* moe_model_type = "qwen3_5_moe_text";
  static constexpr const char* outer_moe_model_type = "qwen3_5_moe";
  /// The remark on a folder that holds more than the text model.
  static constexpr const char* text_alone =
      "the text model alone: images are not seen, and the heads that predict several tokens are "
      "left out";
  /// The remark on one that holds no model of images.
  static constexpr const char* predicts_one = "the heads that predict several tokens are left out";

  /// The defaults of Qwen3_5TextConfig in transformers.
  static constexpr std::array defaults{DefaultValue{"attention_bias", "false"},
                                       DefaultValue{"full_attention_interval", "4"},
                                       DefaultValue{"head_dim", "256"},
                                       DefaultValue{"hidden_act", "\"silu\""},
                                       DefaultValue{"layer_types", "null"},
                                       DefaultValue{"linear_conv_kernel_dim", "4"},
                                       DefaultValue{"linear_key_head_dim", "128"},
                                       DefaultValue{"linear_num_key_heads", "16"},
                                       DefaultValue{"linear_num_value_heads", "32"},
                                       DefaultValue{"linear_value_head_dim", "128"},
                                       DefaultValue{"max_position_embeddings", "32768"},
                                       DefaultValue{"num_key_value_heads", "4"},
                                       DefaultValue{"rms_norm_eps", "1e-6"},
                                       DefaultValue{"rope_parameters", "null"},
                                       DefaultValue{"tie_word_embeddings", "false"}};
  /// Those of Qwen3_5MoeTextConfig that differ or are its own.
  static constexpr std::array moe_defaults{DefaultValue{"num_experts_per_tok", "8"},
                                           DefaultValue{"num_key_value_heads", "2"}};
  /// json: the configuration of the text model.
  /// @throw BadInput naming file, key and remedy for a part that is not computed here
  static Qwen3_5Config configuration(const JsonObject& json);
  /// json: that of a folder that sees images too; the text model's is in its `text_config`.
  static Qwen3_5Config outer_configuration(const JsonObject& json);
  /// That of a GGUF file, without the blocks that predict several tokens.
  static Qwen3_5Config configuration(const GgufFile& file);
  static constexpr const char* gguf_architecture = "qwen35";
  static constexpr const char* gguf_moe_architecture = "qwen35moe";
  /// How such a file orders rows and inputs.
  static GgufOrder gguf_order(const Qwen3_5Config& config);

  /// Refuses a model that these kernels cannot compute; `where` names its configuration.
  /// @throw BadInput
  static void require_kernels(const Qwen3_5Config& config, const Kernels& kernels,
                              const std::string& where);

  /// @throw BadInput as `tensors` does, if the sizes of `config` do not fit together, and as
  /// require_kernels does
  Qwen3_5(const Qwen3_5Config& config, TensorSource& tensors, const Kernels& kernels);
  ArraysLayout state_layout() const override { return states_.layout(); }

 private:
  struct Attention {
    PackedMatrix query_key_value_gate;  // hidden_size -> heads · head_dim, four parts
    DeviceMemory<float> query_norm;     // [head_dim]
    DeviceMemory<float> key_norm;       // [head_dim]
    PackedMatrix output;                // heads · head_dim -> hidden_size
  };
  struct DeltaNet {
    PackedMatrix projection;          // hidden_size -> a row as RecurrentShape says
    DeviceMemory<float> convolution;  // [taps, channels]
    DeviceMemory<float> rates;        // [value_heads]
    DeviceMemory<float> biases;       // [value_heads]
    DeviceMemory<float> norm;         // [value_dim]
    PackedMatrix output;              // value_heads · value_dim -> hidden_size
    bool tiles_answers = false;       // for `output`
  };
  struct Layer {
    DeviceMemory<float> input_norm;  // [hidden_size]
    std::optional<Attention> attention;
    std::optional<DeltaNet> delta_net;        // one of the two
    DeviceMemory<float> post_attention_norm;  // [hidden_size]
    std::optional<Experts> experts;           // in the place of the next two
    PackedMatrix gate_up;                     // hidden_size -> intermediate_size, two parts
    PackedMatrix down;                        // intermediate_size -> hidden_size
  };
  Layer read_layer(const std::string& prefix, bool full_attention, TensorSource& tensors) const;
  DeviceMemory<float> read_norm(const std::string& name, std::size_t size,
                                TensorSource& tensors) const;
  Attention read_attention(const std::string& prefix, TensorSource& tensors) const;
  DeltaNet read_delta_net(const std::string& prefix, TensorSource& tensors) const;

  void run_layers(const TokenRows& batch, const PageMemory& memory, const Launch& launch) override;
  void attend(const Attention& layer, const RowNorm& norm, const TokenRows& batch,
              const PagePart& keys, const PagePart& values, const Launch& launch) const;
  void recur(const DeltaNet& layer, const RowNorm& norm, const TokenRows& batch, std::size_t index,
             const Launch& launch);

  const RecurrentShape recurrent_;
  const StateShape states_;
  const bool stores_factors_;
  std::vector<Layer> layers_;

  // Kept between calls, for the rows of the largest launch so far.
  DeviceMemory<float> projected_;  // [rows, recurrent_.row_floats]
  ProductInputMemory answers_;     // [rows, value_heads · value_dim]
  ExpertMemory of_experts_;
};

}  // namespace tempera::gpu
