#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/llm/transformer/weights/folder_quantisation.hpp"
#include "gpu/llm/transformer/weights/safetensors.hpp"

// Tensors of experts, under the names of one for each, and where files have them together.

namespace tempera::gpu {

/// A tensor of one expert, "PREFIX.mlp.experts.NUMBER.PART.weight", or its bias.
struct ExpertTensor {
  std::string prefix;  ///< "PREFIX.mlp.experts."
  std::size_t number;
  std::string part;    ///< "gate_proj", "up_proj" or "down_proj"
  std::string ending;  ///< "weight" or "bias"
};
/// Reads a name; nothing if it is not of that form.
std::optional<ExpertTensor> expert_tensor(const std::string& name);

/// Tensor `number` of those that are stacked in one more extent, from row `begin` on: `stored` is
/// [experts, rows, …], the result [shape[0], …].
StoredTensor part_of_stack(const StoredTensor& stored, std::size_t number, std::size_t begin,
                           const std::vector<std::uint64_t>& shape);

/// Where a folder of gpt-oss has a tensor of one expert. A layer's experts share
/// "mlp.experts.gate_up_proj", whose outputs are gate and up in turn, and "mlp.experts.down_proj",
/// either [experts, inputs, outputs] or as MXFP4: NAME_blocks, [experts, outputs, inputs / 32, 16],
/// and NAME_scales, [experts, outputs, inputs / 32]. Biases are NAME_bias, [experts, outputs].
struct InterleavedExpert {
  ExpertTensor expert;
  const StoredTensor* values;
  const StoredTensor* scales = nullptr;  ///< of MXFP4

  std::vector<const StoredTensor*> all() const;
};
/// Finds it; nothing unless `name` is that of an expert's tensor, and the files lack it.
/// @throw BadInput naming file and tensor for one that is missing, or has another shape or dtype
std::optional<InterleavedExpert> interleaved_expert(const TensorFiles& files,
                                                    const std::string& name,
                                                    const std::vector<std::uint64_t>& shape,
                                                    std::size_t experts);
/// Its rows in memory of their own, in the dtype that they are stored in.
/// @throw BadInput naming file and tensor for a scale of MXFP4 that is NaN
DequantisedMap rows_of_expert(const InterleavedExpert& stored, const std::string& name,
                              const std::vector<std::uint64_t>& shape);

}  // namespace tempera::gpu
