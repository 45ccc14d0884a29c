#pragma once

#include <optional>
#include <string>

#include "gpu/llm/transformer/architectures/architecture.hpp"
#include "gpu/llm/transformer/architectures/decoder_config.hpp"
#include "gpu/llm/transformer/architectures/rotary_angles.hpp"
#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/product_input_memory.hpp"
#include "gpu/llm/transformer/weights/tensor_source.hpp"

namespace tempera::gpu {

/// Which of a decoder's layers attend, and how, if that is not all of every layer.
struct AttentionLayers {
  std::size_t layers;  // those that have keys and values
  AttentionShape shape;
};

/// What decoders with a cache of keys and values have besides their layers: the shape, the token
/// embedding, the final RMSNorm with the head, and the memory of a launch. The layers are each
/// architecture's own.
class Decoder : public Architecture {
 public:
  const Kernels& kernels() const override { return kernels_; }
  std::size_t vocabulary_size() const override { return config_.vocab_size; }
  std::size_t max_position() const override { return config_.max_position_embeddings; }
  std::span<const std::uint32_t> named_ends() const override { return config_.eos_token_ids; }
  std::string remark() const override { return config_.remark; }
  std::optional<RopeFactors> rope_factors() const override { return config_.rope_choice; }
  MatrixWork step_work() const override { return step_work_; }
  ArraysLayout page_layout() const override { return pages_.layout(); }
  void forward(const TokenRows& batch, const PageMemory& memory) override;
  void logits(const CachedRows& batch, const PageMemory& memory, const LogitRows& logits) override;
  void step(const TokenRows& computed, const CachedRows& asked, const PageMemory& memory,
            const LogitRows& logits) override;

 protected:
  /// Reads the embedding; the architecture's own constructor reads its layers and then calls
  /// read_head().
  /// @throw BadInput as `tensors` does, and if the sizes of `config` do not fit together, naming
  /// the model type
  Decoder(const char* model_type, const DecoderConfig& config, TensorSource& tensors,
          const Kernels& kernels);
  Decoder(const char* model_type, DecoderConfig config, const AttentionLayers& attention,
          TensorSource& tensors, const Kernels& kernels);
  /// Reads the final norm and the head.
  void read_head(TensorSource& tensors);
  /// The same with a final norm that is read already. [hidden_size]
  void read_head(TensorSource& tensors, DeviceMemory<float> final_norm);

  /// What the layers of one launch work on.
  struct Launch {
    RotaryTables rotary;
    float* states;           // [rows, hidden_size], the embeddings where the layers begin
    ProductInputs normed;    // [rows, hidden_size]
    float* query_key_value;  // [rows, attention.row_floats]
    ProductInputs attended;  // [rows, heads · head_dim]
    ProductInputs gated;     // [rows, intermediate_size]
  };
  /// All layers: from the embeddings to the states before the final norm.
  virtual void run_layers(const TokenRows& batch, const PageMemory& memory,
                          const Launch& launch) = 0;

  /// Outputs of the queries, and of the keys or the values.
  std::size_t query_size() const { return config_.num_attention_heads * config_.head_dim; }
  std::size_t key_value_size() const { return config_.num_key_value_heads * config_.head_dim; }
  float epsilon() const { return static_cast<float>(config_.rms_norm_eps); }

  const DecoderConfig config_;
  const Kernels& kernels_;
  const PageShape pages_;
  const AttentionShape attention_;
  MatrixWork idle_work_;  // of layers that a step of one record leaves out, such as other experts

 private:
  /// Room for the rows of a batch, valid until the next call, and their embeddings.
  Launch begin(const TokenRows& batch);
  /// The head's product of normed_.
  void run_head(std::size_t rows, const LogitRows& logits);

  RotaryAngles angles_;
  PackedMatrix embedding_;            // vocab_size outputs over hidden_size inputs
  DeviceMemory<float> final_norm_;    // [hidden_size]
  std::optional<PackedMatrix> head_;  // absent if it is tied to the embedding and the same
  MatrixWork before_layers_;          // of what the tensors' source had packed
  MatrixWork step_work_;

  // Kept between calls; as in Launch, for the rows of the largest launch so far.
  DeviceMemory<float> states_;
  ProductInputMemory normed_;
  DeviceMemory<float> query_key_value_;
  ProductInputMemory attended_;
  ProductInputMemory gated_;
};

}  // namespace tempera::gpu
