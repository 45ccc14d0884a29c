#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/llm/transformer/architectures/decoder_config.hpp"
#include "gpu/llm/transformer/kernels/product_input_memory.hpp"
#include "gpu/llm/transformer/kernels/variant_kernels.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "gpu/llm/transformer/weights/tensor_source.hpp"

namespace tempera::gpu {

/// Refuses experts that these kernels cannot compute; `where` names their configuration. Called
/// before any weight is read.
/// @throw BadInput
void require_experts(const DecoderConfig& config, const Kernels& kernels, const std::string& where);

/// The memory that the experts of one layer after another work on, kept between calls.
struct ExpertMemory {
  explicit ExpertMemory(Arithmetic arithmetic) : taken(arithmetic), gated(arithmetic) {}

  DeviceMemory<float> logits;          // [rows, outputs of the router]
  DeviceMemory<std::uint32_t> chosen;  // [rows, slots]
  DeviceMemory<float> weights;         // [rows, slots]
  // Rows by the expert that they go to, [rows · slots], and then where in that list the experts of
  // each row are, [rows, slots].
  DeviceMemory<std::uint32_t> lists;
  ProductInputMemory taken;     // [rows · slots, hidden size]
  DeviceMemory<float> wide;     // [rows of one expert, outputs of gate_up], of clamped gates
  ProductInputMemory gated;     // [rows · slots, the widest expert]
  DeviceMemory<float> outputs;  // [rows · slots, hidden size]
};

/// A feed-forward of experts (Shazeer et al. 2017): a router gives every row a logit for each of
/// them, and the row goes through the few whose logits are largest, each a SwiGLU of its own, and
/// through one more that all rows share, if there is one. What they give is added by the router's
/// weights, in ascending order of the experts, so that no other row decides a bit of it.
class Experts {
 public:
  /// Those of the layer whose tensors' names begin with `prefix`.
  /// @throw BadInput as `tensors` does
  Experts(const std::string& prefix, std::size_t hidden, const ExpertsConfig& config,
          TensorSource& tensors, Arithmetic arithmetic);

  /// Adds what the experts make of `inputs` to `states`, both [rows, hidden size].
  void add(const Kernels& kernels, const ProductInputs& inputs, std::size_t rows, float* states,
           ExpertMemory& memory) const;
  /// The work of those experts that a step of one record does not go through.
  MatrixWork idle_work() const;

 private:
  struct Expert {
    PackedMatrix gate_up;  // hidden size -> inner size, two parts
    PackedMatrix down;     // inner size -> hidden size
    std::size_t inner;
    DeviceMemory<float> gate_up_bias;  // if there are biases
    DeviceMemory<float> down_bias;
  };
  Expert read(const std::string& prefix, std::size_t inner, TensorSource& tensors,
              Arithmetic arithmetic) const;

  /// outputs[row, o] of one expert's rows.
  void run(const Kernels& kernels, const Expert& expert, const ProductInputs& taken,
           std::size_t rows, const ProductInputs& gated, DeviceMemory<float>& wide,
           float* outputs) const;

  const std::size_t hidden_;
  const std::optional<ClampedGate> clamped_;
  ExpertChoice choice_;
  PackedMatrix router_;  // hidden size -> a logit for each, and one for the shared expert
  DeviceMemory<float> router_bias_;  // [outputs of the router], if it has one
  std::vector<Expert> experts_;      // the shared one last
};

}  // namespace tempera::gpu
