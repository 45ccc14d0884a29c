#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/transformer/architectures/architecture.hpp"
#include "gpu/transformer/architectures/rotary_angles.hpp"
#include "gpu/transformer/cache/page_shape.hpp"
#include "gpu/transformer/kernels/product_input_memory.hpp"
#include "gpu/transformer/weights/tensor_source.hpp"

namespace tempera::gpu {

/// The shape of a decoder of the Qwen3 architecture, named as in Hugging Face's config.json.
struct Qwen3Config {
  std::size_t vocab_size = 0;
  std::size_t hidden_size = 0;
  std::size_t intermediate_size = 0;
  std::size_t num_hidden_layers = 0;
  std::size_t num_attention_heads = 0;
  std::size_t num_key_value_heads = 0;
  std::size_t head_dim = 0;
  std::size_t max_position_embeddings = 0;
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000.0;
  bool tie_word_embeddings = false;
  /// The tokens that end a text: `eos_token_id` of generation_config.json where it names any, else
  /// that of config.json. Ascending, without repetition; may be empty.
  std::vector<std::uint32_t> eos_token_ids;
};

/// The configuration that the text of a config.json describes; `where` names it in errors.
///
/// @throw BadInput, naming file, key and remedy, for whatever is missing, out of range or would
/// need arithmetic that this architecture does not have: another model_type or activation, a
/// sliding window in use, scaled rotary positions, attention biases, quantised weights.
Qwen3Config parse_qwen3_config(std::string_view text, const std::string& where);

/// Reads `folder`/config.json and, where it is there, `folder`/generation_config.json; BadInput as
/// above.
Qwen3Config read_qwen3_config(const std::filesystem::path& folder);

/// Qwen3 (Qwen Team 2025), the dense decoder: token embedding; per layer grouped-query attention
/// with RMSNorm on every head's query and key and rotary positions, then SwiGLU, each after an
/// RMSNorm and added to the stream; final RMSNorm and head. The arithmetic is that of the kernels,
/// whatever the dtype of the weights.
class Qwen3 final : public Architecture {
 public:
  static constexpr const char* model_type = "qwen3";

  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together.
  Qwen3(Qwen3Config config, TensorSource& tensors, const Kernels& kernels);

  const Kernels& kernels() const override { return kernels_; }
  std::size_t vocabulary_size() const override { return config_.vocab_size; }
  std::size_t max_position() const override { return config_.max_position_embeddings; }
  std::span<const std::uint32_t> terminal_tokens() const override { return config_.eos_token_ids; }
  std::size_t page_bytes() const override { return pages_.bytes(); }
  void forward(const TokenRows& batch, const PageMemory& memory) override;
  void logits(const CachedRows& batch, const PageMemory& memory, const LogitRows& logits) override;
  void step(const TokenRows& computed, const CachedRows& asked, const PageMemory& memory,
            const LogitRows& logits) override;

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

  Layer load_layer(const std::string& prefix, TensorSource& tensors) const;
  void make_room(std::size_t rows);
  /// The embedding and all layers: states_ up to the final norm.
  void run_layers(const TokenRows& batch, const PageMemory& memory);
  /// The head's product of normed_.
  void run_head(std::size_t rows, const LogitRows& logits);

  Qwen3Config config_;
  const Kernels& kernels_;
  PageShape pages_;
  AttentionShape attention_;
  RotaryAngles angles_;

  PackedMatrix embedding_;  // vocab_size outputs over hidden_size inputs
  std::vector<Layer> layers_;
  DeviceMemory<float> final_norm_;    // [hidden_size]
  std::optional<PackedMatrix> head_;  // absent where it is tied to the embedding

  // Room for one launch, kept between calls; [rows of the largest launch so far, ...].
  DeviceMemory<float> states_;           // hidden_size
  ProductInputMemory normed_;            // hidden_size
  DeviceMemory<float> query_key_value_;  // attention_.row_floats
  ProductInputMemory attended_;          // heads · head_dim
  ProductInputMemory gated_;             // intermediate_size
};

/// The model of a folder whose config.json says "qwen3"; BadInput as read_qwen3_config and
/// FolderTensors throw it.
std::unique_ptr<Architecture> load_qwen3(const std::filesystem::path& folder,
                                         const Kernels& kernels);

}  // namespace tempera::gpu
